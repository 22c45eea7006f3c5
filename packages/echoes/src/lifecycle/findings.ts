import { join } from 'node:path'
import { isMemoryError, MemoryErrorCode } from '@recall/core'
import { type EchoBlock, parseEchoes, standAlone } from '../documents/echo-document.ts'
import { withoutSecrets } from '../documents/sensitive.ts'
import { readText } from '../files/files.ts'
import { findingsPath } from '../files/role-folder.ts'

/** The findings of one agent, which wait to be consolidated. */
export interface WaitingFindings {
  agent: string
  path: string
  /** The text of the file as read; `null` when there is none, or it cannot be read. */
  seen: string | null
  ready: { block: EchoBlock; stripped: string[] }[]
  /** The text that stays in the file; `null` when nothing stays and the file is removed. */
  left: string | null
  /** What stays: where it begins, and why. */
  kept: { block: EchoBlock; reasons: string[] }[]
  /** Why the file cannot be read. */
  problem?: string
}

/**
 * Reads an agent's findings, each in a form that reads the same in every file. Invalid entries stay in the file, and so
 * do etched ones, which only a person may add.
 *
 * @throws MemoryError FORBIDDEN when the file is a link
 */
export function readFindings(root: string, role: string, agent: string): WaitingFindings {
  const path = findingsPath(role, agent)
  const waiting: WaitingFindings = { agent, path, seen: null, ready: [], left: null, kept: [] }
  try {
    waiting.seen = readText(join(root, path))
  } catch (error) {
    if (!isMemoryError(error) || error.code === MemoryErrorCode.FORBIDDEN) throw error
    return { ...waiting, problem: error.message }
  }
  const left: string[] = []
  for (const section of sectionsOf(parseEchoes(waiting.seen ?? '').blocks)) {
    const { ready, stays } = sorted(section)
    waiting.ready.push(...ready)
    const [block] = stays
    if (!block || stays.every(isFrame)) continue
    left.push(...stays.map(({ text }) => text))
    waiting.kept.push({ block, reasons: reasonsOf(block) })
  }
  return { ...waiting, left: left.length > 0 ? left.join('') : null }
}

/** What can be taken over from a section, without its secrets, and what stays, with its text as it is. */
function sorted(section: readonly EchoBlock[]): { ready: WaitingFindings['ready']; stays: EchoBlock[] } {
  const ready: WaitingFindings['ready'] = []
  const stays: EchoBlock[] = []
  for (const block of section) {
    const { block: clean, stripped } = withoutSecrets(block)
    const alone = clean.entry ? standAlone(clean) : clean
    if (alone.entry && alone.entry.layer !== 'etched') ready.push({ block: alone, stripped })
    else stays.push({ ...alone, text: block.text })
  }
  return { ready, stays }
}

const reasonsOf = ({ entry, problems }: EchoBlock): string[] =>
  entry ? ['only a person adds etched entries'] : (problems ?? ['it is not an entry'])

function sectionsOf(blocks: readonly EchoBlock[]): EchoBlock[][] {
  const sections: EchoBlock[][] = []
  for (const block of blocks) {
    sections[block.section] ??= []
    sections[block.section]?.push(block)
  }
  return sections
}

/** Whether a block is only a title, comments and blank lines, which need not be kept. */
const isFrame = ({ text, problems }: EchoBlock): boolean =>
  problems === undefined &&
  text.split('\n').every((line) => line.trim() === '' || /^\uFEFF?(?:#{1,2} .*|<!--.*-->)\s*$/.test(line))
