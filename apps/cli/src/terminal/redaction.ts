import { redactText } from '@recall/core'
import type { Io } from './io.ts'

/**
 * Replaces secrets, which people may have typed into files, in what is printed of a memory: agents run commands as well,
 * and what they read goes to the provider of their model.
 */
export function createRedaction(io: Io): { redact: (text: string) => string; tell: () => void } {
  let isNeeded = false
  return {
    redact(text) {
      const redacted = redactText(text).text
      isNeeded ||= redacted !== text
      return redacted
    },
    tell() {
      if (isNeeded) io.err("recall: secrets are not shown: 'recall scrub' says in which files they are\n")
    },
  }
}
