import {
  checkMemoryOptions,
  invalidInput,
  type MemoryManagerOptions,
  refuseUnknownOptions,
} from '@recall/core'
import type { VectorColumn } from './search/vector-index.ts'

interface ServerOptions {
  connections?: number | undefined
  migrations?: boolean | undefined
  indexed?: readonly VectorColumn[] | undefined
  onNotice?: ((notice: string) => void) | undefined
}

/**
 * Checks the options of a server before connecting to it.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function checkServerOptions(options: ServerOptions): void {
  const { connections = 1, migrations = true, indexed = [], onNotice, ...others } = options
  refuseUnknownOptions(others)
  if (!Number.isInteger(connections) || connections < 1)
    refuse('connections', 'must be a whole number above 0')
  if (typeof migrations !== 'boolean') refuse('migrations', 'must be true or false')
  if (onNotice !== undefined && typeof onNotice !== 'function') refuse('onNotice', 'must be a function')
  if (!Array.isArray(indexed) || !indexed.every(isColumn))
    refuse('indexed', "must be a list of columns, such as { table: 'units', dimensions: 384 }")
}

/**
 * Checks the options of a memory, other than those of its database, before the database is touched.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function checkOptionsOfMemory(
  textConfiguration: string | undefined,
  options: Omit<MemoryManagerOptions, 'stores'>,
): void {
  if (textConfiguration !== undefined && typeof textConfiguration !== 'string')
    refuse('textConfiguration', 'must be the name of a text search configuration')
  checkMemoryOptions(options)
}

export function refuse(option: string, message: string): never {
  throw invalidInput('options', [{ path: [option], message }])
}

const isColumn = (given: Partial<VectorColumn> | null): boolean =>
  (given?.table === 'units' || given?.table === 'memories') &&
  Number.isInteger(given.dimensions) &&
  Number(given.dimensions) > 0
