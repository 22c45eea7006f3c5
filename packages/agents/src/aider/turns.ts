import { trackFence } from '@recall/core/text'

/** What was typed, what the host or a command put out, or what the agent replied. */
export interface Turn {
  kind: 'prompt' | 'output' | 'reply'
  text: string
}

/** What the host writes for an empty prompt. */
const emptyPrompt = '<blank>'

/**
 * The turns in the lines of a session: `#### ` is typed, `> ` is output, the rest is the agent's. A line of output is a
 * turn of its own, because the host writes them one by one. Code in a reply may hold any line.
 */
export function* turnsOf(lines: readonly string[]): Generator<Turn, void> {
  const markedOf = createMarkReader(lines)
  const codeEnd = createCodeEndFinder(lines, (line) => markedOf(line)?.kind === 'prompt')
  let open: { kind: 'prompt' | 'reply'; lines: string[] } = { kind: 'reply', lines: [] }
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i] as string
    const marked = markedOf(line)
    const kind = marked?.kind ?? 'reply'
    // Each line of a prompt is marked, also an empty one: anything else ends it.
    if (kind !== open.kind) {
      yield* toTurn(open.kind, open.lines)
      open = { kind: kind === 'prompt' ? kind : 'reply', lines: [] }
    }
    if (marked?.kind === 'output') yield* toTurn('output', [marked.text])
    else if (marked) open.lines.push(marked.text)
    else {
      const end = codeEnd(i) ?? i
      open.lines.push(line)
      while (i < end) open.lines.push(lines[++i] as string)
    }
  }
  yield* toTurn(open.kind, open.lines)
}

function* toTurn(kind: Turn['kind'], lines: readonly string[]): Generator<Turn, void> {
  const text = lines.join('\n').trim()
  if (text !== '' && !(kind === 'prompt' && text === emptyPrompt)) yield { kind, text }
}

/**
 * Returns a function that tells what a marked line says. The host ends such lines with two blanks. If the first one has
 * them, a line without them is a heading or a quote in a reply; if not, an editor has removed them.
 */
function createMarkReader(lines: readonly string[]): (line: string) => Turn | null {
  const mark = /^(####|>)(?: (.*))?$/
  const keepsBlanks = lines.find((line) => mark.test(line))?.endsWith('  ') ?? false
  return (line) => {
    const [, sign, text = ''] = (keepsBlanks && !line.endsWith('  ') ? null : mark.exec(line)) ?? []
    return sign === undefined ? null : { kind: sign === '>' ? 'output' : 'prompt', text: text.trimEnd() }
  }
}

/**
 * Returns a function that gives the index of the last line of the code which a line opens; `null` when it opens none.
 * Call it for the lines in order.
 */
function createCodeEndFinder(
  lines: readonly string[],
  isPrompt: (line: string) => boolean,
): (from: number) => number | null {
  /** By the character of a mark: the latest one that opens nothing, and the line up to which that is known. */
  const unclosed = new Map<string, { mark: string; until: number }>()
  return (from) => {
    const mark = /`{3,}|~{3,}/.exec(lines[from] as string)?.[0]
    if (mark === undefined) return null
    // What closes a longer mark closes a shorter one as well, so not every mark is searched to the end of the session.
    const known = unclosed.get(mark.charAt(0))
    if (known && from < known.until && mark.startsWith(known.mark)) return null
    const { end, until } = searchEnd(lines, from, mark, isPrompt)
    if (until !== undefined) unclosed.set(mark.charAt(0), { mark, until })
    return end ?? null
  }
}

/**
 * The last line of the code that a line opens. If other code begins after a prompt before anything closes it, the reply
 * was cut off: then it opens none, nor would any line until that prompt.
 */
function searchEnd(
  lines: readonly string[],
  from: number,
  mark: string,
  isPrompt: (line: string) => boolean,
): { end?: number; until?: number } {
  const partOf = trackFence()
  if (partOf(lines[from] as string) !== 'opening') return {}
  let prompt: number | undefined
  for (let i = from + 1; i < lines.length; i++) {
    const line = lines[i] as string
    const part = partOf(line)
    if (part !== 'code') return { end: part === 'closing' ? i : i - 1 }
    if (prompt === undefined) {
      if (isPrompt(line) && lines[i - 1]?.trim() === '') prompt = i
    } else if (namesCode(line, mark)) return { until: prompt }
  }
  return { until: lines.length }
}

/** Whether a line opens code and names its language: a mark that closes code has nothing after it. */
const namesCode = (line: string, mark: string): boolean => {
  const text = line.trimStart()
  return text.startsWith(mark) && /[^\s`~]/.test(text)
}
