import { join } from 'node:path'
import { conversationKey, conversationType, type MemoryManager, memoryScopes } from '@recall/core'
import { openFileMemory } from '../../src/open-file-memory.ts'
import { archiveOf } from './storm-values.ts'

export const words = ['harbour', 'lighthouse', 'cable', 'anchor', 'tide', 'gull', 'rope', 'mast']

export async function fill(root: string, entries: number): Promise<void> {
  const memory = await openFileMemory({ root, redact: 'allow' })
  for (let i = 0; i < entries; i++) {
    const text = words.filter((_, w) => (i >> w) % 2 === 0).join(' ')
    await memory.write('long-term', `note ${i}`, `${text} number${i}`, {
      tags: [`tag${i % 5}`],
      type: 'note',
    })
  }
  await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
  await memory.write('long-term', 'MEMORY.md#harbour', 'The harbour has a lighthouse.')
  await memory.search('long-term', { text: 'harbour' })
  await memory.close()
}

const queries = [
  {},
  { tags: ['tag1'] },
  { filters: { type: 'note' } },
  ...words.map((text) => ({ text })),
  { text: 'rope mast number7' },
]

/** The answers to a set of searches, a line each. */
export async function answers(memory: MemoryManager): Promise<string> {
  const lines: string[] = []
  for (const scope of memoryScopes) {
    for (const query of queries) {
      const matches = await memory.search(scope, query, { limit: 1000, touch: false })
      const seen = matches.map(({ key, value, score, passage }) => [
        key,
        value,
        score.toFixed(4),
        passage?.line,
      ])
      lines.push(JSON.stringify(seen))
    }
  }
  return lines.join('\n')
}

/**
 * The same without scores, and without the order that follows from them: FTS5 goes on counting deleted rows in
 * its averages, so that a word's weight depends a little on what was there before.
 */
export async function matchesOf(memory: MemoryManager): Promise<string> {
  const lines: string[] = []
  for (const scope of memoryScopes) {
    for (const query of queries) {
      const matches = await memory.search(scope, query, { limit: 1000, touch: false })
      const seen = matches.map(({ key, value, passage }) => JSON.stringify([key, value, passage?.line]))
      lines.push(('text' in query ? seen.sort() : seen).join(' '))
    }
  }
  return lines.join('\n')
}

export const internal = (root: string): string => join(root, 'memory/.recall')
