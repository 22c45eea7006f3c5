import { createHash, randomBytes } from 'node:crypto'

/** A new key of 256 random bits. Nobody can guess it, so a plain hash protects it as well as a slow one. */
export const newApiKey = (): string => `recall_${randomBytes(32).toString('base64url')}`

/** The key or token that a request carries in this header. */
export const bearerOf = (authorization = ''): string => authorization.replace(/^Bearer {1,100}/i, '')

/** The hash that the database keeps. Keys are looked up by it, so a lookup takes the same time for every input. */
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')
