/** Levels that people nest in one line; a parser that calls itself for each of them ends at some thousands. */
const mostLevels = 100

/**
 * Whether a YAML text opens more than a hundred levels at once, in flow collections or in the indicators of one line.
 * Ask before the text is given to a parser: in a stack that is nearly full, V8 ends the process where it would have
 * to compile a regular expression, and nobody can catch that. Quoted brackets count too: no one needs a hundred.
 */
export function isDeepYaml(text: string): boolean {
  let open = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > mostLevels) return true
  }
  return text.split('\n').some((line) => (line.match(/(?<!\S)[-?:](?=\s)/g)?.length ?? 0) > mostLevels)
}
