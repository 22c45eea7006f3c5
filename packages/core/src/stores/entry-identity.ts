import { isJsonObject } from '../json.ts'
import type { Address, Entry, Expected } from '../memory-store.ts'

/** The address of an entry, without the rest of it. */
export const addressOf = ({ namespace, scope, key }: Entry): Address => ({ namespace, scope, key })

/** The `expected` of a change that must not undo a write made since this entry was read. */
export const asRead = ({ updatedAt, value }: Entry): Expected => ({ updatedAt, value })

/** The type that a value states itself, in a member `type`. */
export const statedType = (value: unknown): string | null =>
  isJsonObject(value) && typeof value.type === 'string' && value.type !== '' ? value.type : null
