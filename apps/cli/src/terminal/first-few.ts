import { count } from './format.ts'

const mostShown = 20

/** Lines for a screen: the first of many, and how many more there are. With `--json` a command prints them all. */
export const firstFew = (lines: readonly string[], noun: string, plural = `${noun}s`): string[] => {
  const more = lines.length - mostShown
  if (more <= 0) return [...lines]
  return [
    ...lines.slice(0, mostShown),
    `and ${count(more, `more ${noun}`, `more ${plural}`)}, all of which --json prints`,
  ]
}
