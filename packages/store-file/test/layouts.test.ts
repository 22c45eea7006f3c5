import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  conversationKey,
  conversationType,
  createMemoryManager,
  sessionSummaryKey,
  sessionSummaryType,
} from '@recall/core'
import { describe, expect, it } from 'vitest'
import { checkUp, defaultFileSystem, openFileStore, readConfig } from '../src/index.ts'
import { temporaryRoot } from './support/temporary-root.ts'

type LayoutName = 'entity' | 'user'

const forEver = { ttl: Number.POSITIVE_INFINITY }

async function open(root: string, layout: LayoutName, day: number) {
  const store = await openFileStore({ root, layout })
  return { store, memory: createMemoryManager({ stores: store, clock: () => Date.UTC(2026, 0, day) }) }
}

/** Archives and summaries of two sessions, notes, a section, an archived entry and a setting. */
async function fill(root: string, layout: LayoutName): Promise<void> {
  mkdirSync(root, { recursive: true })
  const { store, memory } = await open(root, layout, 10)
  for (const n of [1, 2]) {
    const session = {
      sessionId: `s${n}`,
      date: `2026-01-0${n}T00:00:00.000Z`,
      duration: '1m',
      messageCount: 2,
    }
    const body = `## Summary\n\nThe ferry number${n} was late.\n\n### User\n\nWhere is it?\n\n### Assistant\n\nAt the harbour.\n`
    const archive = { ...session, source: 'session', topics: ['ferry'], body }
    await memory.write('episodic', conversationKey(`s${n}`), archive, { type: conversationType })
    const summary = {
      ...session,
      summary: `The ferry number${n} was late.`,
      archive: conversationKey(`s${n}`),
    }
    const ofSummary = { type: sessionSummaryType, ...forEver }
    await memory.write('short-term', sessionSummaryKey(`s${n}`), summary, ofSummary)
  }
  await memory.write('short-term', 'lasts', { until: 'tomorrow' }, { ...forEver, tags: ['a', 'b'] })
  await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at noon.')
  await memory.write('episodic', 'storm', 'A storm came in spring.')
  await memory.cleanup({ scope: 'episodic', archiveBefore: Date.UTC(2026, 0, 11) })
  writeFileSync(join(root, store.layout.config), '# mine\n[ephemeral]\nmax_entries = 7 # a week\n')
  await memory.close()
}

describe.each<LayoutName>(['entity', 'user'])('the %s layout', (layout) => {
  it('gives the next who opens it window, archives, notes and settings, and is written on', async () => {
    const root = temporaryRoot()
    await fill(root, layout)
    const { store, memory } = await open(root, layout, 12)
    const window = await memory.search('short-term', { text: 'ferry' }, { touch: false })
    expect(window.map(({ key }) => key).sort()).toEqual([sessionSummaryKey('s1'), sessionSummaryKey('s2')])
    expect(await memory.read('short-term', sessionSummaryKey('s2'))).toMatchObject({
      sessionId: 's2',
      messageCount: 2,
      summary: 'The ferry number2 was late.',
      archive: conversationKey('s2'),
    })
    expect(await memory.read('episodic', conversationKey('s1'))).toMatchObject({
      sessionId: 's1',
      date: '2026-01-01T00:00:00.000Z',
      topics: ['ferry'],
      source: 'session',
      body: expect.stringContaining('Where is it?'),
    })
    expect(await memory.read('short-term', 'lasts', { includeMetadata: true })).toMatchObject({
      value: { until: 'tomorrow' },
      metadata: { tags: ['a', 'b'] },
    })
    const storm = await memory.search('episodic', { text: 'spring' }, { includeArchived: true })
    expect(storm.map(({ value }) => value)).toEqual(['A storm came in spring.'])
    expect(readConfig(defaultFileSystem, root, store.layout)).toEqual({
      config: { ephemeral: { maxEntries: 7 } },
    })
    await memory.write('episodic', 'storm', 'A storm came in autumn.')
    await memory.write('long-term', 'MEMORY.md#tides', 'The tide turns at one.')
    expect(await memory.read('long-term', 'MEMORY.md#tides')).toBe('The tide turns at one.')
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    expect(findings.filter(({ ok }) => !ok)).toEqual([])
    await memory.close()
  })
})
