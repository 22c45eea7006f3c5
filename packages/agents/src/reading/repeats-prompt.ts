/**
 * Whether the name of a session only repeats the prompt with which it begins. Hosts that have none yet take the prompt,
 * in one line, or cut.
 */
export const repeatsPrompt = (name: string, prompt: string): boolean =>
  inOneLine(prompt).startsWith(inOneLine(name.trim().replace(/(?:…|\.\.\.)$/, '')))

const inOneLine = (text: string): string => text.trim().replaceAll(/\s+/g, ' ')
