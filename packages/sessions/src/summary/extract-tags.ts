import type { JsonValue, Message } from '@recall/core'
import { trackFence } from '@recall/core/text'
import { clip, oneLine } from './clip.ts'

/** What a conversation's wording and tool uses reveal without a model. */
export interface SessionTags {
  decisions: string[]
  actionItems: string[]
  files: string[]
  tools: string[]
}

const tagLimits = { decisions: 5, actionItems: 5, files: 10 } as const

const decision = /\b(?:decided to|let['’]?s use|chose to|settled on|agreed to|going with)\b/i
const actionItem = /\b(?:todo:|action item:|need to|needs to|follow[- ]up)/i
/** Mentions a need but states none: `here is what you need to know`. */
const aboutNeeds = /\bwhat (?:[\w']+ )?needs? to\b/i
/** The assistant announces its own next step, which is not an action item … */
const ownNextStep =
  /^(?:now,? |then,? |next,? |first,? )?let me\b|^(?:now|also|then|next|so),? need to\b|^still need to:$|\b(?:I|I['’]ll|we)(?: (?:also|first|will|now))* need to\b/i
/** … unless other people or a later time are involved: then it remains to be done when the session ends. */
const withOthers =
  /\b(?:todo|action item):|\bwe(?: [\w']+){0,3} follow[- ]up\b|\bfollow[- ]up with\b|\breach out to\b|\b(?:with|to|from) the (?:[\w-]+ ){0,2}team\b/i
const weekday = '(?:mon|tues|wednes|thurs|fri|satur|sun)day'
const laterOn = new RegExp(
  [
    '\\b(?:tomorrow|tonight|eventually|at some point|in the future)\\b',
    `\\b(?:next|this) (?:week|month|quarter|year|sprint|release|session|${weekday})\\b`,
    `\\b(?:on|by|until|before|after) (?:${weekday}|\\d{4}-\\d{2}-\\d{2})\\b`,
    '\\bbefore (?:we|the) (?:next )?(?:release|launch|rollout|go(?:ing)? live|ship)\\b',
    '\\blater(?: on)?[.!]?$',
  ].join('|'),
  'i',
)
const longestItem = 200

const pathKey = /^(?:file_?)?(?:path|name|file)s?$|_path$|^paths$|^files$/i
/** Its first dot or slash, and its last letter, can each be in one place only: trying others would not be linear. */
const barePath = /^~?[\w@+-]*[./][\w@./+-]*\w[./]*$/
/**
 * Members that hold text that is written, searched for or asked: a word with a dot there, as `this.cache`, is not a
 * file.
 */
const wordsKey =
  /^(?:old|new)_?(?:str|string|text)$|^(?:content|description|pattern|prompt|query|regex|skill|subject|text)$/i
const version = /^v?[\d.]+$/

export interface TagCollector {
  addText(role: Message['role'], text: string): void
  addToolUse(name: string, input: JsonValue): void
  tags(): SessionTags
}

/** @param project the folder that file names are made relative to */
export function createTagCollector(project: () => string | undefined): TagCollector {
  const inAnyCase = (sentence: string): string => sentence.toLowerCase()
  const decisions = uniqueList(tagLimits.decisions, inAnyCase)
  const actionItems = uniqueList(tagLimits.actionItems, inAnyCase)
  const files = uniqueList(tagLimits.files)
  const tools = uniqueList(Number.POSITIVE_INFINITY)

  return {
    addText(role, text) {
      if (decisions.isFull() && actionItems.isFull()) return
      for (const sentence of sentences(text)) {
        if (decision.test(sentence)) decisions.add(clip(sentence, longestItem))
        else if (isActionItem(role, sentence)) actionItems.add(clip(sentence, longestItem))
      }
    },
    addToolUse(name, input) {
      tools.add(oneLine(name))
      for (const path of paths(input)) files.add(relativeTo(project(), path))
    },
    tags: () => ({
      decisions: decisions.items,
      actionItems: actionItems.items,
      files: files.items,
      tools: tools.items,
    }),
  }
}

function isActionItem(role: Message['role'], sentence: string): boolean {
  if (!actionItem.test(sentence) || aboutNeeds.test(sentence)) return false
  return role !== 'assistant' || !ownNextStep.test(sentence) || isLeftToDo(sentence)
}

const isLeftToDo = (sentence: string): boolean => withOthers.test(sentence) || laterOn.test(sentence)

function uniqueList(limit: number, identityOf = (item: string): string => item) {
  const items: string[] = []
  const seen = new Set<string>()
  return {
    items,
    isFull: (): boolean => items.length >= limit,
    add(item: string): void {
      const identity = identityOf(item)
      if (item === '' || items.length >= limit || seen.has(identity)) return
      seen.add(identity)
      items.push(item)
    },
  }
}

/** Sentences of lines with a decision or an action item, without list and heading marks; skips fenced code. */
function* sentences(text: string): Generator<string> {
  const partOfCode = trackFence()
  for (const line of text.split('\n')) {
    // Code in a list is indented.
    if (partOfCode(line.trimStart()) === null && (decision.test(line) || actionItem.test(line))) {
      const plain = line.replace(/^[\s>#*+-]*(?:\d+[.)]\s+)?(?:\[[ xX]\]\s*)?/, '').replaceAll('**', '')
      for (const sentence of plain.split(/(?<=[.!?])\s+/)) yield oneLine(sentence)
    }
  }
}

function* paths(input: JsonValue, key = ''): Generator<string> {
  if (typeof input === 'string') {
    const path = input.trim()
    if (path.length <= 300 && isPath(path, key)) yield path
  } else if (Array.isArray(input)) {
    for (const item of input) yield* paths(item, key)
  } else if (input !== null && typeof input === 'object') {
    for (const [name, member] of Object.entries(input)) yield* paths(member, name)
  }
}

function isPath(text: string, key: string): boolean {
  if (!/[./]/.test(text) || /[\n*?]|:\/\//.test(text) || version.test(text)) return false
  return pathKey.test(key) ? /\w/.test(text) : !wordsKey.test(key) && barePath.test(text)
}

function relativeTo(project: string | undefined, path: string): string {
  const isBelow =
    project && spelled(path).startsWith(spelled(project)) && /^[/\\]/.test(path.slice(project.length))
  return isBelow ? path.slice(project.length + 1) : path
}

/** Programs on Windows spell drive letters in either case, and separate folders with either slash. */
const spelled = (path: string): string =>
  /^[a-z]:/i.test(path) ? path.slice(0, 1).toUpperCase() + path.slice(1).replaceAll('\\', '/') : path
