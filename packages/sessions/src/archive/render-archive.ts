import type { ContentBlock, Message } from '@recall/core'
import { terminalStyles } from '@recall/core/text'
import { clip } from '../summary/clip.ts'
import type { SessionTags } from '../summary/extract-tags.ts'
import type { Summary } from '../summary/summarize.ts'
import { toolTarget } from '../summary/tool-target.ts'

/** Characters of a tool's output that an archive keeps. */
const outputLength = 300

/** Between two pieces of an archive. */
export const pieceSeparator = '\n\n'

const headings = { user: '### User', assistant: '### Assistant' } as const

/**
 * The markdown of one archive: `## Summary`, the turns, `## Tags`; ends with a newline. Half a surrogate pair, which no
 * text file can hold, becomes U+FFFD.
 */
export function renderArchive(
  summary: Pick<Summary, 'summary' | 'decisions' | 'actionItems'>,
  pieces: readonly string[],
  tags: SessionTags,
): string {
  const points = [
    listLine('Decisions', summary.decisions, '; '),
    listLine('Action Items', summary.actionItems, '; '),
  ]
  const tagLines = [
    listLine('Decisions', tags.decisions, '; '),
    listLine('Action Items', tags.actionItems, '; '),
    listLine('Files', tags.files, ', '),
    listLine('Tools', tags.tools, ', '),
  ]
  const sections = ['## Summary', summary.summary, lines(points), ...pieces, '## Tags', lines(tagLines)]
  return `${sections.filter((section) => section !== '').join(pieceSeparator)}\n`.toWellFormed()
}

/** A line that would read as the beginning of a turn. */
const turnHeading = /^(?=### (?:User|Assistant)[ \t]*\r?$)/gm

/** Spoken text in which no line reads as the beginning of another turn: such a line is escaped. */
const escapeTurns = (text: string): string => text.replace(turnHeading, '\\')

/**
 * One message as pieces of markdown, which `pieceSeparator` joins: spoken text word for word, except for an escape
 * before a line that reads as the heading of a turn; tools as short quotes; none when nothing of it is kept.
 * Consecutive messages of the assistant share one heading.
 */
export function renderTurn(message: Message, previous: Message['role'] | null): string[] {
  const blocks = message.content.map(renderBlock).filter((block) => block !== '')
  const isContinued = message.role === 'assistant' && previous === 'assistant'
  return blocks.length === 0 || isContinued ? blocks : [headings[message.role], ...blocks]
}

/** The text under `## Summary`: the summary with its decisions and action items. */
export function summarySection(body: string): string {
  const found: string[] = []
  let isInside = false
  for (const line of body.split(/\r?\n/)) {
    if (!isInside) isInside = line.trim() === '## Summary'
    else if (/^(?:### (?:User|Assistant)|## Tags)\s*$/.test(line)) break
    else found.push(line)
  }
  return found.join('\n').trim()
}

/** The text between the summary and the tags in an archive's body. */
export function turnsSection(body: string): string {
  const begin = body.search(/(?<=^|\n)### (?:User|Assistant)(?:\n|$)/)
  const end = body.lastIndexOf(`${pieceSeparator}## Tags`)
  return begin === -1 ? '' : body.slice(begin, end === -1 ? undefined : end)
}

/** The turns in joined pieces: each is all that one speaker says until the other speaks. */
export const splitTurns = (joined: string): string[] =>
  joined === '' ? [] : joined.split(/\n\n(?=### (?:User|Assistant)(?:\n|$))/)

/** The text without the quotes of tool outputs. */
export const withoutOutputs = (text: string): string =>
  text.replace(/\n\n> \[(?:failed )?output\] [^\n]*(?:\n>[^\n]*)*(?=\n\n|\n?$)/g, '')

function renderBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text.trim() === '' ? '' : escapeTurns(block.text)
    case 'thinking':
      return ''
    case 'tool_use': {
      const target = toolTarget(block.input)
      return `> [tool] ${block.name}${target === '' ? '' : `: ${target}`}`
    }
    case 'tool_result': {
      // Colours are unreadable in a file.
      const excerpt = clip(block.content.replace(terminalStyles, '').trim(), outputLength)
      if (excerpt === '') return ''
      return quote(`[${block.isError ? 'failed output' : 'output'}] ${excerpt}`)
    }
  }
}

const quote = (text: string): string => text.replace(/^/gm, '> ')

const listLine = (name: string, items: readonly string[], separator: string): string =>
  items.length === 0 ? '' : `**${name}**: ${items.join(separator)}`

const lines = (all: readonly string[]): string => all.filter((line) => line !== '').join('\n')
