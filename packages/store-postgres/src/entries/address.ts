import { createHash } from 'node:crypto'
import type { Address, Place } from '@recall/core'
import type { Shelf } from './shelf.ts'

/** The id of a place: a scope of a namespace, or its archive. */
export const placeId = (
  { namespace, scope }: Place,
  { tenant, archived }: Pick<Shelf, 'tenant' | 'archived'>,
): string => digest([tenant, namespace, scope, archived ? 'archive' : 'current'])

/** The id of an entry within its place. */
export const entryId = ({ key }: Pick<Address, 'key'>): string => digest([key])

/** The first 128 bits of a SHA-256, written as a UUID. */
const digest = (parts: readonly string[]): string =>
  createHash('sha256')
    .update(JSON.stringify(parts))
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5')
