import type { ContentBlock, ConversationFacts } from '@recall/core'
import { toResultText } from './content-blocks.ts'

/**
 * Decides, once the first prompt is known, whether the name of a session becomes its title. Hosts without a name yet
 * use the prompt, in one line or cut off: such a name adds nothing, unless a person chose it.
 */
export function createTitling(facts: ConversationFacts, name: string | undefined, isChosen = false) {
  let isBegun = false
  return (prompt: ContentBlock[]): void => {
    if (!isBegun && name && (isChosen || !repeatsPrompt(name, toResultText(prompt)))) facts.title = name
    isBegun = true
  }
}

const repeatsPrompt = (name: string, prompt: string): boolean =>
  inOneLine(prompt).startsWith(inOneLine(name.trim().replace(/(?:…|\.\.\.)$/, '')))

const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
