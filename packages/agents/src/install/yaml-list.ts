import { basename } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { isDeepYaml } from '@recall/core/text'
import { type Document, isMap, isScalar, isSeq, parseDocument, type Scalar, type YAMLSeq } from 'yaml'
import { hasNestedKeys } from '../yaml.ts'
import { CannotEdit, type FileEdit } from './target.ts'
import { isBlank, shapeOf } from './text-shape.ts'

/**
 * Paths of ours in a list of a YAML file. If the member is a single text, it becomes a list.
 *
 * @param items the first is the same in every installation; the others may lie in another folder the next time. Those
 * of earlier installations, which follow the first under the same names, are replaced or removed
 */
export function yamlList(path: string, key: string, items: readonly string[]): FileEdit {
  /** The items of a list that this or an earlier installation wrote. */
  const oursIn = (list: readonly string[]): string[] => {
    const first = list.indexOf(items[0] as string)
    const wrote = (item: string, i: number): boolean =>
      first !== -1 && i > first && basename(item) === basename(items[i - first] ?? '')
    return list.filter((item, i) => items.includes(item) || wrote(item, i))
  }

  return {
    path,
    byHand: `${key}:\n${items.map((item) => `  - ${JSON.stringify(item)}\n`).join('')}`,
    add(text) {
      if (text === null || isBlank(text)) return `${text ?? ''}${this.byHand}`
      const { body, eol, restore } = shapeOf(text)
      const present = listOf(open(body), key)
      const ours = oursIn(present)
      const earlier = ours.every((item) => items.includes(item)) ? [] : ours
      const kept = present.filter((item) => !earlier.includes(item))
      let edited = earlier.reduce((text, item) => removeItem(text, key, item), body)
      for (const item of items) if (!kept.includes(item)) edited = addItem(edited, key, item, eol)
      return restore(checked(body, edited, [...new Set([...kept, ...items])]))
    },
    remove(text) {
      const { body, restore } = shapeOf(text)
      const present = listOf(open(body), key)
      const ours = oursIn(present)
      if (ours.length === 0) return text
      const left = checked(
        body,
        ours.reduce((edited, item) => removeItem(edited, key, item), body),
        present.filter((item) => !ours.includes(item)),
      )
      return left.trim() === '' ? null : restore(left)
    },
  }

  /** The edit works on text, so the parsed result is compared with what it should be. */
  function checked(before: string, after: string, expected: readonly string[]): string {
    const others = (text: string): unknown => ({ ...valuesOf(open(text)), [key]: undefined })
    if (
      isDeepStrictEqual(listOf(open(after), key), expected) &&
      isDeepStrictEqual(others(after), others(before))
    ) {
      return after
    }
    throw new CannotEdit('the change would have altered other settings')
  }
}

function addItem(body: string, key: string, item: string, eol: string): string {
  const node = memberOf(open(body), key)
  const written = JSON.stringify(item)
  const isNull = isScalar(node) && node.value === null
  const alone = new RegExp(`^${key}:[ \\t]*(?:\\r?\\n|$)`, 'm')
  if (node === undefined || (isNull && alone.test(body))) {
    // A key without a value has nothing to keep and is replaced.
    const rest = node === undefined ? body : body.replace(alone, '')
    return `${rest}${rest.endsWith('\n') || rest === '' ? '' : eol}${key}:${eol}  - ${written}${eol}`
  }
  const [start, end] = rangeOf(node)
  if (isNull) return `${body.slice(0, start)}[${written}]${start === end ? ' ' : ''}${body.slice(end)}`
  if (isScalar(node))
    return `${body.slice(0, start)}[${JSON.stringify(node.value)}, ${written}]${body.slice(end)}`
  if (node.flow) {
    const close = body.lastIndexOf(']', end)
    const comma = node.items.length === 0 || /,\s*$/.test(body.slice(start, close)) ? '' : ', '
    return `${body.slice(0, close)}${comma}${written}${body.slice(close)}`
  }
  const last = node.items.at(-1) as Scalar
  const [lastStart, lastEnd] = rangeOf(last)
  const lineStart = body.lastIndexOf('\n', lastStart) + 1
  const lead = /^\s*-\s*/.exec(body.slice(lineStart))?.[0] ?? '  - '
  const lineEnd = body.indexOf('\n', lastEnd)
  const at = lineEnd === -1 ? body.length : lineEnd + 1
  const gap = lineEnd === -1 ? eol : ''
  return `${body.slice(0, at)}${gap}${lead}${written}${eol}${body.slice(at)}`
}

function removeItem(body: string, key: string, item: string): string {
  const node = memberOf(open(body), key)
  if (node === undefined || !isSeq(node)) return body.replace(new RegExp(`^${key}:.*(?:\\r?\\n|$)`, 'm'), '')
  const index = node.items.findIndex((each) => isScalar(each) && each.value === item)
  const [start, end] = rangeOf(node.items[index] as Scalar)
  if (node.flow) {
    const before = body.slice(0, start).replace(/,\s*$/, '')
    const after = index === 0 ? body.slice(end).replace(/^\s*,\s*/, '') : body.slice(end)
    return `${index === 0 ? body.slice(0, start) : before}${after}`
  }
  const lineStart = body.lastIndexOf('\n', start) + 1
  const lineEnd = body.indexOf('\n', end)
  const left = `${body.slice(0, lineStart)}${lineEnd === -1 ? '' : body.slice(lineEnd + 1)}`
  return node.items.length > 1 ? left : left.replace(new RegExp(`^${key}:[ \\t]*(?:\\r?\\n|$)`, 'm'), '')
}

function open(body: string): Document {
  if (isDeepYaml(body)) throw new CannotEdit('it is nested too deep')
  const document = parseDocument(body, { schema: 'core', version: '1.2', prettyErrors: false })
  const [problem] = document.errors
  if (problem) throw new CannotEdit(`it is not valid YAML (${problem.message.split('\n')[0]})`)
  if (hasNestedKeys(document)) throw new CannotEdit('it has a list or a mapping for a key')
  if (document.contents !== null && (!isMap(document.contents) || document.contents.flow)) {
    throw new CannotEdit('it is not a YAML mapping with a key on each line')
  }
  return document
}

/** The value of a document, with aliases resolved. */
function valuesOf(document: Document): object {
  try {
    return (document.toJS() as object | null) ?? {}
  } catch (error) {
    throw new CannotEdit(`it is not valid YAML (${(error as Error).message})`)
  }
}

function memberOf(document: Document, key: string): Scalar | YAMLSeq | undefined {
  const node = isMap(document.contents) ? document.contents.get(key, true) : undefined
  if (node === undefined || isScalar(node)) return node
  if (isSeq(node) && (node as YAMLSeq).items.every((item) => isScalar(item))) return node as YAMLSeq
  throw new CannotEdit(`'${key}' is neither a text nor a list of texts`)
}

function listOf(document: Document, key: string): string[] {
  const node = memberOf(document, key)
  if (node === undefined || (isScalar(node) && node.value === null)) return []
  return isScalar(node) ? [String(node.value)] : node.items.map((item) => String((item as Scalar).value))
}

function rangeOf(node: Scalar | YAMLSeq): readonly [number, number] {
  const [start = 0, end = 0] = node.range ?? []
  return [start, end]
}
