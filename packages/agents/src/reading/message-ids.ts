import { createHash } from 'node:crypto'
import { asJson } from './content-blocks.ts'

/**
 * Makes ids for messages that have none in their source: each is a hash of everything said up to it, so that only the
 * same conversation, or one that continues it, has the same ids.
 *
 * @returns a function from the content of the next message to its id
 */
export function createMessageIds(): (said: unknown) => string {
  const soFar = createHash('sha256')
  return (said) => {
    soFar.update(`${asJson(said)}\n`)
    return `said-${soFar.copy().digest('hex').slice(0, 24)}`
  }
}
