import { isDeepStrictEqual } from 'node:util'
import { findNodeAtLocation, getNodeValue, type Node, type ParseError } from 'jsonc-parser'
import { isRecord } from '../json.ts'
import { isOwnServer, startOf } from './command-line.ts'
import { addHook, removeHooks, withHook } from './hook-list.ts'
import { change, cut, setMembers, treeOf } from './json-text.ts'
import { anothers, CannotEdit, type FileEdit } from './target.ts'
import { shapeOf } from './text-shape.ts'

/** Something of ours in a settings file. */
export type JsonPart =
  /** A member that is entirely ours. */
  | { at: readonly string[]; member: unknown }
  /** A member that a host needs: an existing one stays as it is, and it stays when ours are removed. */
  | { at: readonly string[]; default: unknown }
  /**
   * An MCP server. One that is not ours stays, and the edit is refused unless ours exists next to it under another name;
   * in ours, only what starts it is updated, because the rest, such as its environment, is the person's.
   */
  | { at: readonly string[]; server: unknown }
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
  parts.filter(isWanted).filter((part) => 'default' in part)

function addPart(body: string, part: Wanted, eol: string): string {
  const present = valueAt(parsed(body), part.at)
  const path = [...part.at]
  if ('member' in part)
    return isDeepStrictEqual(present, part.member) ? body : change(body, path, part.member, eol)
  if ('default' in part) return present === undefined ? change(body, path, part.default, eol) : body
  if ('server' in part) return addServer(body, path, present, part.server, eol)
  if (present === undefined) return change(body, path, ['item' in part ? part.item : part.hook], eol)
  const list = listIn(present, path)
  if ('hook' in part) return addHook(body, path, list, part.hook, eol)
  return list.includes(part.item) ? body : change(body, [...path, list.length], part.item, eol, true)
}

function addServer(body: string, path: string[], present: unknown, server: unknown, eol: string): string {
  if (isDeepStrictEqual(present, server)) return body
  if (present === undefined) return change(body, path, server, eol)
  if (!isRecord(present) || !isOwnServer(present)) throw anothers(path.at(-1) ?? '')
  return setMembers(body, path, present, startOf(server), eol)
}

const withItem = (list: readonly unknown[], item: string): readonly unknown[] =>
  list.includes(item) ? list : [...list, item]

function removePart(body: string, part: JsonPart): string {
  const present = valueAt(parsed(body), part.at)
  if (present === undefined) return body
  if (!isWanted(part) && !Array.isArray(present)) return body
  // The member may have existed before our installation.
  if ('default' in part || isOthersServer(part, present)) return body
  if ('member' in part || 'server' in part) return withoutEmpty(cut(body, [...part.at]), part.at.slice(0, -1))
  const list = listIn(present, part.at)
  const text = 'item' in part ? part.item : 'noItem' in part ? part.noItem : undefined
  const edited =
    text === undefined ? removeHooks(body, [...part.at], list) : withoutItem(body, part.at, list, text)
  return edited === body ? body : withoutEmpty(edited, part.at)
}

function withoutItem(body: string, path: readonly string[], list: readonly unknown[], item: string): string {
  const i = list.indexOf(item)
  return i === -1 ? body : cut(body, [...path, i])
}

const isOthersServer = (part: JsonPart, present: unknown): boolean =>
  'server' in part && present !== undefined && !isOwnServer(present)

/** Whether a person gave ours another name, because the usual one is taken. */
function standsBeside(root: unknown, part: Wanted): boolean {
  if (!isOthersServer(part, valueAt(root, part.at))) return false
  const siblings = valueAt(root, part.at.slice(0, -1))
  return isRecord(siblings) && Object.values(siblings).some(isOwnServer)
}

/** Whether nothing is left but our `default` members, not even a comment. */
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

function withPart(root: unknown, part: Wanted): unknown {
  const [name, ...rest] = part.at
  if (name === undefined) return partOver(root, part)
  if (root !== undefined && !isRecord(root))
    throw new CannotEdit(`'${name}' has no place in a value that is not an object`)
  return { ...root, [name]: withPart(root?.[name], { ...part, at: rest }) }
}

/** What becomes of the value at the place of a part; `undefined` for no value. */
function partOver(present: unknown, part: Wanted): unknown {
  if ('member' in part) return part.member
  if ('default' in part) return present === undefined ? part.default : present
  if ('server' in part) return isRecord(present) ? { ...present, ...startOf(part.server) } : part.server
  const list = present === undefined ? [] : listIn(present, part.at)
  return 'hook' in part ? withHook(list, part.hook) : withItem(list, part.item)
}

function valueAt(value: unknown, path: readonly string[]): unknown {
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
