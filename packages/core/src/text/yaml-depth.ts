/** More levels than people nest in one line; a recursive parser overflows its stack at some thousands. */
const mostLevels = 100

/**
 * Whether a YAML text opens more than a hundred levels at once, in flow collections or in the indicators of one line.
 * Check before parsing: on a nearly full stack, V8 ends the process when it has to compile a regular expression, and
 * no `catch` prevents that. Quoted brackets count too, since no real text has a hundred of them.
 */
export function isDeepYaml(text: string): boolean {
  let open = 0
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    open = bracket === '[' || bracket === '{' ? open + 1 : Math.max(0, open - 1)
    if (open > mostLevels) return true
  }
  return text.split('\n').some((line) => (line.match(/(?<!\S)[-?:](?=\s)/g)?.length ?? 0) > mostLevels)
}
