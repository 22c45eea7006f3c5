import { createHash } from 'node:crypto'
import { derivedIdMark, type JsonValue, redactJson } from '@recall/core'
import { asJson } from '../json.ts'

/**
 * Makes ids for messages that have none in their source: each is a hash of everything said up to it, so that only the
 * same conversation, or one that continues it, has the same ids. Ids are stored, and the hash of a secret would confirm
 * a correct guess: what looks like a secret is left out.
 *
 * @returns a function from the content of the next message to its id
 */
export function createMessageIds(): (said: unknown) => string {
  const soFar = createHash('sha256')
  return (said) => {
    soFar.update(`${asJson(withoutSecrets(said))}\n`)
    return `${derivedIdMark}${soFar.copy().digest('hex').slice(0, 24)}`
  }
}

/** As a memory keeps it; a value nested too deeply to be searched is left out as a whole. */
function withoutSecrets(said: unknown): unknown {
  try {
    return redactJson(said as JsonValue).value
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return '[nested too deeply]'
  }
}
