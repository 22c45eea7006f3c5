import { type JsonValue, MemoryError, MemoryErrorCode } from '@recall/core'
import type { CST, Document, Pair, ParsedNode, Scalar, Tags, YAMLMap } from 'yaml'

/**
 * Most memories never need the YAML parser, and loading it takes as long as a short search. Bundlers do not see it.
 *
 * @throws MemoryError UNAVAILABLE when it is not installed: what a file says is then unknown, not absent
 */
export function loadYaml(): typeof import('yaml') {
  try {
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)('yaml')
  } catch (cause) {
    throw new MemoryError(
      'the package yaml cannot be loaded: install it, and leave @recall/store-file out of the bundle if there is one',
      MemoryErrorCode.UNAVAILABLE,
      { cause },
    )
  }
}

export const yamlOptions = {
  schema: 'core',
  merge: false,
  uniqueKeys: true,
  prettyErrors: false,
  logLevel: 'error',
} as const

/** What YAML takes for another thing than the text, which it is in JSON. */
export const yamlWord = /^(?:true|false|null)$/i

/** One line for a field: its value in JSON, which is YAML as well. */
export function printField(name: string, value: JsonValue): string {
  const isPlain = /^[A-Za-z_][A-Za-z0-9_-]*$/.test(name) && !yamlWord.test(name)
  return `${isPlain ? name : JSON.stringify(name)}: ${printValue(value)}`
}

function printValue(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map((item) => JSON.stringify(item)).join(', ')}]`
  return JSON.stringify(value)
}

type Field = Pair<ParsedNode, ParsedNode | null> & { srcToken?: CST.BlockMap['items'][number] }

/**
 * The lines of front matter, which can be read, with some fields replaced, added behind the others, or removed where
 * the new value is `null`. All other lines stay as they are, to the letter. So do comments: those that lose their place
 * get lines of their own.
 */
export function withFields(source: string, changes: ReadonlyMap<string, JsonValue>): string {
  const { isMap, parseDocument } = loadYaml()
  const document = parseDocument(source, { ...yamlOptions, keepSourceTokens: true })
  const { contents } = document
  if (!isMap(contents) || contents.items.length === 0) return commentsAlone(source) + printLines(changes, '')
  if (contents.flow) return withFields(onLinesOfTheirOwn(document), changes)
  const fields = (contents as YAMLMap.Parsed).items as Field[]
  const added = new Map(changes)
  let [result, at, indent] = ['', 0, '']
  for (const field of fields) {
    const place = placeOf(field, source)
    const name = nameOf(field)
    const value = changes.get(name)
    added.delete(name)
    indent = source.slice(place.line, place.start)
    result += source.slice(at, place.line)
    const [spelled, beside] = [
      source.slice(place.line, place.valueEnd),
      source.slice(place.valueEnd, place.end),
    ]
    if (value === undefined) result += spelled + beside
    else if (value === null) result += commentsIn(spelled + beside, indent)
    else result += `${commentsIn(spelled, indent)}${indent}${printField(name, value)}${beside}`
    at = place.end
  }
  return result + printLines(added, indent) + source.slice(at)
}

/** Front matter without fields may hold comments, and `~` or `{}`. */
const commentsAlone = (source: string): string =>
  Array.from(source.matchAll(/(?<!\S)#.*\n/g), ([comment]) => comment).join('')

const printLines = (fields: ReadonlyMap<string, JsonValue>, indent: string): string =>
  Array.from(fields, ([name, value]) => (value === null ? '' : `${indent}${printField(name, value)}\n`)).join(
    '',
  )

/** The comments of a field, each on a line of its own. */
function commentsIn(field: string, indent: string): string {
  const tokens = [...new (loadYaml().Lexer)().lex(field)]
  // A text that may begin like a comment stands behind a mark.
  const comments = tokens.filter((token, i) => token.startsWith('#') && tokens[i - 1] !== '\u001f')
  return comments.map((comment) => `${indent}${comment}\n`).join('')
}

/** The field's name as a member of an object. */
function nameOf({ key }: Field): string {
  const { value } = key as Scalar
  return value === null || value === undefined ? '' : String(value)
}

/** Where a field begins, the line on which it does, and where its value and the last line of it end. */
function placeOf({ key, value, srcToken }: Field, source: string) {
  const { start: before = [], key: keyToken, sep = [] } = srcToken ?? {}
  // A question mark, a tag or an anchor.
  const mark = before.find(({ type }) => type !== 'space' && type !== 'newline' && type !== 'comment')
  const start = (mark ?? keyToken ?? (sep[0] as CST.SourceToken)).offset
  const [, valueEnd] = (value ?? key).range
  const line = source.lastIndexOf('\n', start - 1) + 1
  const shown = start + source.slice(start, valueEnd).trimEnd().length
  return { start, line, valueEnd: shown, end: source.indexOf('\n', shown) + 1 || source.length }
}

/** Fields between braces, each on a line of its own, and numbers as they were typed. */
function onLinesOfTheirOwn(document: Document.Parsed): string {
  const asTyped = (tags: Tags): Tags =>
    tags.map((tag) =>
      typeof tag === 'object' && !tag.collection && /:(?:int|float)$/.test(tag.tag)
        ? { ...tag, stringify: (node: Scalar) => node.source ?? String(node.value) }
        : tag,
    )
  document.setSchema('1.2', { ...yamlOptions, customTags: asTyped })
  ;(document.contents as YAMLMap.Parsed).flow = false
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}
