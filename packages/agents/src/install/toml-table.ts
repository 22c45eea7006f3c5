import { isDeepStrictEqual } from 'node:util'
import { parse, stringify } from 'smol-toml'
import { isRecord } from '../json.ts'
import { anothers, CannotEdit, type FileEdit } from './target.ts'
import { isBlank, shapeOf, type TextShape, withEol } from './text-shape.ts'

/**
 * A table of ours, written at the end of a TOML file. A table of that name in any other form than ours belongs to the
 * person and stays. Two things stay as long as ours does: what a person added to it, and tables inside it, in which a
 * host keeps what the person allowed.
 *
 * @param name for example `['mcp_servers', 'recall']`
 * @param isOurs recognises our table: another one of that name stays, and the edit is refused unless ours exists next
 * to it under another name
 */
export function tomlTable(
  path: string,
  name: readonly string[],
  members: Record<string, unknown>,
  isOurs: (present: unknown) => boolean = () => true,
): FileEdit {
  const header = `[${name.join('.')}]`
  const block = `${header}\n${stringify(members).trimEnd()}\n`

  return {
    path,
    byHand: block,
    add(text) {
      if (text === null || isBlank(text)) return `${text ?? ''}${block}`
      const { body, eol, restore } = shapeOf(text)
      const before = parsed(body)
      const present = inside(before, name)
      if (present !== undefined) {
        if (isOurs(present)) return restore(updated(body, before, present as object, eol))
        const siblings = Object.values(inside(before, name.slice(0, -1)) as object)
        if (siblings.some(isOurs)) return text
        throw anothers(name.at(-1) ?? '')
      }
      const gap = body.endsWith('\n') ? eol : eol + eol
      return restore(checked(`${body}${gap}${withEol(block, eol)}`, before, members))
    },
    remove(text) {
      const { body, eol, restore } = shapeOf(text)
      if (find(body, header) === null || !isOurs(inside(parsed(body), name))) return text
      let left = body
      for (const each of [header, ...headersInside(body)]) left = cut(left, each, eol)
      return left.trim() === '' ? null : restore(checked(left, parsed(body), undefined))
    },
  }

  /** Our table, brought up to date. */
  function updated(
    body: string,
    before: Record<string, unknown>,
    present: object,
    eol: TextShape['eol'],
  ): string {
    const wanted = { ...present, ...members }
    if (isDeepStrictEqual(present, wanted)) return body
    const place = find(body, header)
    if (place === null) throw new CannotEdit(`'${name.join('.')}' occurs in it in another form than ours`)
    const ours = `${block}${othersIn(body.slice(place.start, place.end))}`
    return checked(body.slice(0, place.start) + withEol(ours, eol) + body.slice(place.end), before, wanted)
  }

  /** The edit works on lines, so the parsed result is compared with what it should be. */
  function checked(edited: string, before: Record<string, unknown>, expected: object | undefined): string {
    // Each part is valid by itself.
    const above = name.slice(0, -1).join('.')
    const after = parsed(
      edited,
      `'${above}' in it is written between braces: give each of its members a [table] first`,
    )
    const others = (value: Record<string, unknown>): unknown => without(value, name)
    const isDone = isDeepStrictEqual(inside(after, name), expected)
    if (isDone && isDeepStrictEqual(others(after), others(before))) return edited
    throw new CannotEdit('the change would have altered other settings')
  }

  /** The lines of our table that a person wrote. A formatter may have spread our lists over several lines. */
  function othersIn(table: string): string {
    const names = Object.keys(members).join('|')
    const ours = new RegExp(`^[ \\t]*(?:${names})[ \\t]*=[ \\t]*(?:\\[[^\\]]*\\])?[^\\n]*(?:\\n|$)`, 'gm')
    return table.slice(table.indexOf('\n') + 1).replace(ours, '')
  }

  function headersInside(body: string): string[] {
    const headers = body.split(/\r?\n/).flatMap((line) => headerOf(line) ?? [])
    return headers.filter((each) => each.startsWith(`${header.slice(0, -1)}.`))
  }
}

/** The table header on a line, without blanks and the comment after it. */
const headerOf = (line: string): string | undefined =>
  /^\s*(\[[^\n]*?\])\s*(?:#.*)?\s*$/.exec(line)?.[1]?.replace(/\s/g, '')

/** The text without a table, and without the empty line before it. */
function cut(body: string, header: string, eol: string): string {
  const place = find(body, header)
  if (place === null) return body
  const before = body.slice(0, place.start)
  return `${before.endsWith(eol + eol) ? before.slice(0, -eol.length) : before}${body.slice(place.end)}`
}

/** The place of a table, without the empty lines and comments before the next one. */
function find(body: string, header: string): { start: number; end: number } | null {
  const lines = body.split(/(?<=\n)/)
  const first = lines.findIndex((line) => headerOf(line) === header)
  if (first === -1) return null
  const next = lines.findIndex((line, i) => i > first && /^\s*\[[^\n]*\]\s*(?:#.*)?$/.test(line))
  let last = next === -1 ? lines.length : next
  while (/^\s*(?:#.*)?$/.test((lines[last - 1] as string).trimEnd())) last--
  const length = (count: number): number => lines.slice(0, count).join('').length
  return { start: length(first), end: length(last) }
}

function parsed(body: string, problem = 'it is not valid TOML'): Record<string, unknown> {
  try {
    // The parser's objects have no prototype, so a strict comparison with ordinary objects would fail.
    return structuredClone(parse(body)) as Record<string, unknown>
  } catch (error) {
    throw new CannotEdit(`${problem} (${(error as Error).message.split('\n')[0]})`)
  }
}

const inside = (value: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((inner, name) => (isRecord(inner) ? inner[name] : undefined), value)

function without(value: unknown, path: readonly string[]): unknown {
  const [name, ...rest] = path
  if (name === undefined || !isRecord(value) || !(name in value)) return value
  const { [name]: inner, ...others } = value
  const left = rest.length === 0 ? {} : without(inner, rest)
  return isRecord(left) && Object.keys(left).length === 0 ? others : { ...others, [name]: left }
}
