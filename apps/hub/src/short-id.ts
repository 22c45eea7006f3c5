import { randomInt } from 'node:crypto'
import { memories } from '@recall/store-postgres'
import { eq, type SQL } from 'drizzle-orm'

/** Crockford's base 32, which leaves out letters that look like digits. */
const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/** A random id that people can cite, such as `RCL-8F3K2A9Q`. */
export const newShortId = (): string =>
  `RCL-${Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('')}`

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Selects a memory by its id or its short id. */
export const isNamed = (id: string): SQL =>
  uuid.test(id) ? eq(memories.id, id) : eq(memories.shortId, id.toUpperCase())
