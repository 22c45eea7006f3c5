import { isDeepStrictEqual } from 'node:util'
import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
  getNodePath,
  type JSONPath,
  modify,
  type Node,
  type ParseError,
  parseTree,
} from 'jsonc-parser'
import { CannotEdit } from './target.ts'

/** Parses JSON that may have comments and trailing commas; of anything else, as much as can be read. */
export const treeOf = (body: string, errors: ParseError[] = []): Node =>
  parseTree(body, errors, { allowTrailingComma: true }) as Node

/**
 * Sets a member or an item, in the indentation of the text.
 *
 * @throws CannotEdit when the text is indented too far
 */
export function change(
  body: string,
  path: JSONPath,
  value: unknown,
  eol: string,
  isArrayInsertion = false,
): string {
  const indent = /^([ \t]{1,8})\S/m.exec(body)?.[1] ?? '  '
  const formattingOptions = {
    insertSpaces: !indent.startsWith('\t'),
    tabSize: indent.startsWith('\t') ? 1 : indent.length,
    eol,
  }
  return besideComment(body, path, (text) => {
    try {
      return applyEdits(text, modify(text, path, value, { formattingOptions, isArrayInsertion }))
    } catch (error) {
      // The formatter keeps indentations of up to about 200 characters ready, and fails at the last of them.
      if (!(error instanceof TypeError)) throw error
      throw new CannotEdit('it is indented too far: reformat it')
    }
  })
}

/** Sets those members of the object at a path that are different in it. */
export function setMembers(
  body: string,
  path: JSONPath,
  present: object,
  wanted: Readonly<Record<string, unknown>>,
  eol: string,
): string {
  return Object.entries(wanted).reduce(
    (edited, [name, value]) =>
      isDeepStrictEqual((present as Record<string, unknown>)[name], value)
        ? edited
        : change(edited, [...path, name], value, eol),
    body,
  )
}

const blockComment = /[ \t]*\/\*(?:[^*\r\n]|\*(?!\/))*\*\//.source
const lineComment = /[ \t]*\/\/[^\r\n]*/.source
/** The comments that follow a value on its line, and a comma among them. */
const restOfLine = new RegExp(
  `^((?:${blockComment})*)(?:[ \\t]*(,))?((?:${blockComment}|${lineComment})*)[ \\t]*(?=\\r?\\n)`,
)

/** Adds a member or an item behind the comment on the line of the last one, which would go to the new one otherwise. */
function besideComment(body: string, path: JSONPath, add: (text: string) => string): string {
  const last = lastBefore(treeOf(body), path)
  const end = last === undefined ? body.length : last.offset + last.length
  const [rest = '', first = '', comma = '', others = ''] = restOfLine.exec(body.slice(end)) ?? []
  const comments = first + others
  if (last === undefined || comments === '') return add(body)
  const added = add(`${body.slice(0, end)}${comma}${body.slice(end + rest.length)}`)
  const behind = commaBehind(added, findNodeAtLocation(treeOf(added), getNodePath(last)) as Node)
  // A comment to the end of the line must not stand before anything else on it.
  if (behind === undefined || !/^[ \t]*\r?\n/.test(added.slice(behind + 1))) return add(body)
  return `${added.slice(0, behind + 1)}${comments}${added.slice(behind + 1)}`
}

/** The last value beside which a new one is added at a path; `undefined` where there is none, or the path exists. */
function lastBefore(tree: Node, path: JSONPath): Node | undefined {
  let around = tree
  for (const [depth] of path.entries()) {
    const inner = findNodeAtLocation(tree, path.slice(0, depth + 1))
    if (inner === undefined) break
    if (depth + 1 === path.length) return undefined
    around = inner
  }
  const last = around.children?.at(-1)
  return last?.type === 'property' ? last.children?.[1] : last
}

/** Removes a member or an item with its comma. Everything else stays, whereas `modify` would remove comments. */
export function cut(body: string, path: JSONPath): string {
  const value = findNodeAtLocation(treeOf(body), path) as Node
  const node = value.parent?.type === 'property' ? value.parent : value
  const siblings = node.parent?.children ?? []
  const previous = siblings[siblings.indexOf(node) - 1]
  const end = node.offset + node.length
  const behind = commaBehind(body, node)
  if (behind !== undefined)
    return joined(body.slice(0, node.offset), body.slice(end, behind) + body.slice(behind + 1))
  const comma = previous && commaBehind(body, previous)
  if (comma === undefined) return joined(body.slice(0, node.offset), body.slice(end))
  const between = body.slice(comma + 1, node.offset)
  return joined(body.slice(0, comma) + (between.trim() === '' ? '' : between), body.slice(end))
}

/** Offset of the comma after a value; comments may come before it. */
function commaBehind(body: string, { offset, length }: Node): number | undefined {
  const scanner = createScanner(body, true)
  scanner.setPosition(offset + length)
  scanner.scan()
  const next = scanner.getTokenOffset()
  return body[next] === ',' ? next : undefined
}

/** Joins the text around something that was removed, without the line or the space that it leaves empty. */
function joined(before: string, after: string): string {
  if (!/(?:^|[\s[{])$/.test(before)) return before + after
  const isLine = /(?:^|\n)[ \t]*$/.test(before) && /^[ \t]*\r?\n/.test(after)
  return isLine
    ? before.replace(/[ \t]+$/, '') + after.replace(/^[ \t]*\r?\n/, '')
    : before + after.replace(/^[ \t]+/, '')
}
