import {
  applyEdits,
  createScanner,
  findNodeAtLocation,
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
  try {
    return applyEdits(body, modify(body, path, value, { formattingOptions, isArrayInsertion }))
  } catch (error) {
    // The formatter keeps indentations of up to about 200 characters ready, and fails at the last of them.
    if (!(error instanceof TypeError)) throw error
    throw new CannotEdit('it is indented too far: reformat it')
  }
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
