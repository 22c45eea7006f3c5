import { createHash } from 'node:crypto'
import { asJson } from './content-blocks.ts'

/**
 * Names messages that their source does not name: each by all that was said up to it, so that only the same
 * conversation, or one that goes on from it, has the same names.
 *
 * @returns the name of the next message, of what is its own in the source
 */
export function createMessageIds(): (said: unknown) => string {
  const soFar = createHash('sha256')
  return (said) => {
    soFar.update(`${asJson(said)}\n`)
    return `said-${soFar.copy().digest('hex').slice(0, 24)}`
  }
}
