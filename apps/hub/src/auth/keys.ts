import { createHash, randomBytes } from 'node:crypto'

/** 256 random bits: nobody guesses one, so a plain hash of it is as good as a slow one. */
export const newApiKey = (): string => `recall_${randomBytes(32).toString('base64url')}`

/** What the database keeps. A key is looked up by this, which takes the same time whatever was sent. */
export const hashOfKey = (key: string): string => createHash('sha256').update(key).digest('hex')
