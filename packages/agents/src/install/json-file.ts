import { isDeepStrictEqual } from 'node:util'
import { findNodeAtLocation, getNodeValue, type JSONPath, type Node, type ParseError } from 'jsonc-parser'
import { isRecord } from '../json.ts'
import { isOwnCommand } from './command-line.ts'
import { change, cut, treeOf } from './json-text.ts'
import { anothers, CannotEdit, type FileEdit } from './target.ts'
import { shapeOf } from './text-shape.ts'

/** Something of ours in a settings file. */
export type JsonPart =
  /**
   * A member. With `keep` an existing one stays as it is. With `isOurs` it is a server: one that is not ours stays, and
   * the edit is refused unless ours exists next to it under another name; in ours, only what starts it is updated,
   * because the rest, such as its environment, is the person's.
   */
  | { at: readonly string[]; member: unknown; keep?: boolean; isOurs?: (present: unknown) => boolean }
  /** An item of a list of hooks. In ours, only what starts it is updated, as with a server. */
  | { at: readonly string[]; hook: unknown }
  /** A list of hooks that must not hold any of ours: those of an earlier installation are removed. */
  | { at: readonly string[]; noHook: true }
  /** A text in a list of texts. */
  | { at: readonly string[]; item: string }
  /** A list of texts that must not hold this one: that of an earlier installation is removed. */
  | { at: readonly string[]; noItem: string }

type Unwanted = Extract<JsonPart, { noHook: true } | { noItem: string }>
type Wanted = Exclude<JsonPart, Unwanted>
const isWanted = (part: JsonPart): part is Wanted => !('noHook' in part || 'noItem' in part)

/**
 * Edits our parts of a JSON file that belongs to a host and may have comments, trailing commas and any indentation.
 * Everything else keeps its value and its comments; a line shared with our part may be reformatted.
 */
export function jsonFile(path: string, parts: readonly JsonPart[]): FileEdit {
  const wanted = parts.filter(isWanted)
  return {
    path,
    byHand: printed(objectWith(wanted)),
    empty: printed(objectWith(kept(parts))),
    add(text) {
      if (text === null || text.trim() === '') return this.byHand
      const { body, eol, restore } = shapeOf(text)
      let edited = parts
        .filter((part) => !isWanted(part))
        .reduce((rest, part) => removePart(rest, part), body)
      let expected: unknown = parsed(edited)
      for (const part of wanted) {
        if (standsBeside(parsed(edited), part)) continue
        edited = addPart(edited, part, eol)
        expected = withPart(expected, part)
      }
      // The edit works on text, so the parsed result is compared with what it should be.
      if (!isDeepStrictEqual(parsed(edited), expected)) {
        throw new CannotEdit('the change would have altered other settings')
      }
      return restore(edited)
    },
    remove(text) {
      if (text.trim() === '') return text
      const { body, restore } = shapeOf(text)
      const edited = parts.reduce((rest, part) => removePart(rest, part), body)
      if (edited === body) return text
      return holdsOnlyOurs(edited, parts) ? null : restore(edited)
    },
  }
}

const objectWith = (parts: readonly Wanted[]): unknown =>
  parts.reduce<unknown>((object, part) => withPart(object, part), {})

const printed = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`

/** The parts that stay when ours are removed, because they may have existed before. */
const kept = (parts: readonly JsonPart[]): Wanted[] =>
  parts.filter(isWanted).filter((part) => 'member' in part && part.keep)

function addPart(body: string, part: Wanted, eol: string): string {
  const present = at(parsed(body), part.at)
  if ('member' in part) {
    if (isDeepStrictEqual(present, part.member) || (part.keep && present !== undefined)) return body
    if (isOthers(part, present)) throw anothers(part.at.at(-1) ?? '')
    if (!part.isOurs || !isRecord(present)) return change(body, [...part.at], part.member, eol)
    return startAnew(body, [...part.at], present, part.member, eol)
  }
  if (present === undefined) return change(body, [...part.at], ['item' in part ? part.item : part.hook], eol)
  const list = listIn(present, part.at)
  if ('item' in part)
    return list.includes(part.item) ? body : change(body, [...part.at, list.length], part.item, eol, true)
  const place = ownPlace(list)
  if (place === undefined) return change(body, [...part.at, list.length], part.hook, eol, true)
  return startAnew(body, [...part.at, ...place], hookAt(list, place), commandOf(part.hook), eol)
}

/** Updates what starts something of ours, member by member. */
function startAnew(body: string, path: JSONPath, present: object, wanted: unknown, eol: string): string {
  return Object.entries(startOf(wanted)).reduce(
    (edited, [name, value]) =>
      isDeepStrictEqual((present as Record<string, unknown>)[name], value)
        ? edited
        : change(edited, [...path, name], value, eol),
    body,
  )
}

const startOf = (member: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(member as object).filter(([name]) => ['type', 'command', 'args'].includes(name)),
  )

type HookPlace = [entry: number] | [entry: number, 'hooks', inner: number]

/** The place of our command in a list of hooks: an entry, or inside one, which may hold hooks of others too. */
function ownPlace(list: readonly unknown[]): HookPlace | undefined {
  for (const [entry, item] of list.entries()) {
    const inner = innerHooks(item).findIndex(isOwnHook)
    if (inner !== -1) return [entry, 'hooks', inner]
    if (isOwnHook(item)) return [entry]
  }
  return undefined
}

const hookAt = (list: readonly unknown[], [entry, , inner]: HookPlace): object =>
  (inner === undefined ? list[entry] : innerHooks(list[entry])[inner]) as object

function withHook(list: readonly unknown[], hook: unknown): unknown[] {
  const place = ownPlace(list)
  if (place === undefined) return [...list, hook]
  const [entry, , inner] = place
  const own = { ...hookAt(list, place), ...startOf(commandOf(hook)) }
  if (inner === undefined) return list.with(entry, own)
  const around = list[entry] as object
  return list.with(entry, { ...around, hooks: innerHooks(around).with(inner, own) })
}

const withItem = (list: readonly unknown[], item: string): readonly unknown[] =>
  list.includes(item) ? list : [...list, item]

/** The command of a hook itself, which some hosts put in a list. */
const commandOf = (hook: unknown): unknown => innerHooks(hook)[0] ?? hook

const innerHooks = (item: unknown): unknown[] =>
  isRecord(item) && Array.isArray(item.hooks) ? item.hooks : []

function removePart(body: string, part: JsonPart): string {
  const present = at(parsed(body), part.at)
  if (present === undefined) return body
  if (!isWanted(part) && !Array.isArray(present)) return body
  if ('member' in part) {
    // The member may have existed before our installation.
    if (part.keep || isOthers(part, present)) return body
    return withoutEmpty(cut(body, [...part.at]), part.at.slice(0, -1))
  }
  const list = listIn(present, part.at)
  const text = 'item' in part ? part.item : 'noItem' in part ? part.noItem : undefined
  const edited =
    text === undefined ? withoutHooks(body, part.at, list) : withoutItem(body, part.at, list, text)
  return edited === body ? body : withoutEmpty(edited, part.at)
}

function withoutHooks(body: string, path: readonly string[], list: readonly unknown[]): string {
  let edited = body
  for (const [i, item] of [...list.entries()].reverse()) {
    if (isOwnHook(item)) edited = cut(edited, [...path, i])
    else {
      for (const [j, hook] of [...innerHooks(item).entries()].reverse()) {
        if (isOwnHook(hook)) edited = cut(edited, [...path, i, 'hooks', j])
      }
    }
  }
  return edited
}

function withoutItem(body: string, path: readonly string[], list: readonly unknown[], item: string): string {
  const i = list.indexOf(item)
  return i === -1 ? body : cut(body, [...path, i])
}

const isOthers = (part: JsonPart, present: unknown): boolean =>
  'member' in part && present !== undefined && part.isOurs?.(present) === false

/** Whether a person gave ours another name, because the usual one is taken. */
function standsBeside(root: unknown, part: Wanted): boolean {
  if (!isOthers(part, at(root, part.at)) || !('member' in part)) return false
  const siblings = at(root, part.at.slice(0, -1))
  return isRecord(siblings) && Object.values(siblings).some((each) => part.isOurs?.(each))
}

/** Whether nothing is left but our `keep` members, not even a comment. */
function holdsOnlyOurs(body: string, parts: readonly JsonPart[]): boolean {
  const isEmpty = (): boolean =>
    /^\s*\{\s*\}\s*$/.test(body) || isDeepStrictEqual(parsed(body), objectWith(kept(parts)))
  return !/\/[/*]/.test(body) && isEmpty()
}

/** Removes the containers along a path that have become empty and hold no comment. */
function withoutEmpty(body: string, path: readonly string[]): string {
  const node = path.length > 0 && findNodeAtLocation(treeOf(body), [...path])
  const isEmpty = node && /^(?:\[\s*\]|\{\s*\})$/.test(body.slice(node.offset, node.offset + node.length))
  return isEmpty ? withoutEmpty(cut(body, [...path]), path.slice(0, -1)) : body
}

/** Whether an entry is ours: only if every command in it is, since it may hold hooks of other tools too. */
function isOwnHook(item: unknown): boolean {
  if (!isRecord(item)) return false
  if (Array.isArray(item.hooks)) return item.hooks.length > 0 && item.hooks.every(isOwnHook)
  return isOwnCommand(item.command ?? item.bash)
}

function withPart(root: unknown, part: Wanted): unknown {
  const [name, ...rest] = part.at
  if (name === undefined) {
    if ('hook' in part) return withHook(root === undefined ? [] : listIn(root, part.at), part.hook)
    if ('item' in part) return withItem(root === undefined ? [] : listIn(root, part.at), part.item)
    if (part.isOurs && isRecord(root)) return { ...root, ...startOf(part.member) }
    return part.keep && root !== undefined ? root : part.member
  }
  if (root !== undefined && !isRecord(root))
    throw new CannotEdit(`'${name}' has no place in a value that is not an object`)
  return { ...root, [name]: withPart(root?.[name], { ...part, at: rest }) }
}

function at(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((inner, name, depth) => {
    if (inner === undefined) return undefined
    if (!isRecord(inner)) throw new CannotEdit(`'${path.slice(0, depth).join('.')}' is not an object`)
    return Object.hasOwn(inner, name) ? inner[name] : undefined
  }, value)
}

function listIn(value: unknown, path: readonly string[]): unknown[] {
  if (Array.isArray(value)) return value
  throw new CannotEdit(`'${path.join('.')}' is not a list`)
}

/** @throws CannotEdit unless the text is one JSON object without duplicate names */
function parsed(body: string): Record<string, unknown> {
  try {
    return objectOf(body)
  } catch (error) {
    // The parser is recursive: deep nesting overflows the stack.
    if (error instanceof RangeError) throw new CannotEdit('it is nested too deep')
    throw error
  }
}

function objectOf(body: string): Record<string, unknown> {
  const errors: ParseError[] = []
  const tree = treeOf(body, errors)
  if (errors.length > 0) {
    const line = body.slice(0, errors[0]?.offset ?? 0).split('\n').length
    throw new CannotEdit(`it is not valid JSON (line ${line})`)
  }
  if (tree.type !== 'object') throw new CannotEdit('it holds no JSON object')
  refuseDoubles(tree)
  // The parser's objects have no prototype, so a strict comparison with ordinary objects would fail.
  return JSON.parse(JSON.stringify(getNodeValue(tree))) as Record<string, unknown>
}

/** Refuses duplicate names: only the last member of a name counts, and an edit might change the first. */
function refuseDoubles(node: Node): void {
  const names = new Set<unknown>()
  for (const child of node.children ?? []) {
    const name = node.type === 'object' ? child.children?.[0]?.value : undefined
    if (name !== undefined && names.has(name)) throw new CannotEdit(`'${String(name)}' occurs in it twice`)
    names.add(name)
    refuseDoubles(child)
  }
}
