import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType, sessionSummaryKey, sessionSummaryType } from '@recall/core'
import { expect, it } from 'vitest'
import { archiveOf, summaryOf } from '../../test/support/storm-values.ts'
import { temporaryRoot } from '../../test/support/temporary-root.ts'
import { openFileMemory } from '../open-file-memory.ts'

it('keeps what a record has no place for', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  const forEver = { ttl: Number.POSITIVE_INFINITY }
  const archive = { ...archiveOf('s', 1), mood: 'good' }
  await memory.write('episodic', conversationKey('s'), archive, { type: conversationType })
  expect(await memory.read('episodic', conversationKey('s'))).toEqual(archive)
  const summary = { ...summaryOf('s', 1), mood: 'good' }
  await memory.write('short-term', sessionSummaryKey('s'), summary, { type: sessionSummaryType, ...forEver })
  expect(await memory.read('short-term', sessionSummaryKey('s'))).toEqual(summary)

  const tags = ['mine']
  await memory.write('episodic', conversationKey('t'), archiveOf('t', 1), { type: conversationType, tags })
  const options = { type: sessionSummaryType, ...forEver, tags }
  await memory.write('short-term', sessionSummaryKey('t'), summaryOf('t', 1), options)
  for (const [scope, key] of [
    ['episodic', conversationKey('t')],
    ['short-term', sessionSummaryKey('t')],
  ] as const) {
    expect(await memory.read(scope, key, { includeMetadata: true })).toMatchObject({ metadata: { tags } })
  }
  await memory.close()
})

it('keeps which archive a summary names, also that of another session', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  await memory.write('episodic', conversationKey('other'), archiveOf('other', 1), {
    type: conversationType,
  })
  const summary = { ...summaryOf('s', 1), archive: conversationKey('other') }
  const options = { type: sessionSummaryType, ttl: Number.POSITIVE_INFINITY }
  await memory.write('short-term', sessionSummaryKey('s'), summary, options)
  expect(await memory.read('short-term', sessionSummaryKey('s'))).toEqual(summary)
  await memory.close()
})

it('keeps a record under the key that it was given, and one whose id the window cannot hold', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  const asSummary = { type: sessionSummaryType, ttl: Number.POSITIVE_INFINITY }
  for (const [key, id] of [
    ['session:other', 's'],
    [sessionSummaryKey('two  blanks'), 'two  blanks'],
  ] as const) {
    await memory.write('short-term', key, summaryOf(id, 1), asSummary)
    expect(await memory.read('short-term', key)).toEqual(summaryOf(id, 1))
  }
  await memory.write('episodic', conversationKey('other'), archiveOf('s', 1), { type: conversationType })
  expect(await memory.read('episodic', conversationKey('other'))).toEqual(archiveOf('s', 1))
  await memory.close()
})

it('keeps a conversation that goes from a file to a note and back', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root })
  const key = conversationKey('s')
  for (const archive of [1, 2, 3].map((n) => archiveOf('s', n))) {
    const given = archive.messageCount === 2 ? { ...archive, mood: 'good' } : archive
    await memory.write('episodic', key, given, { type: conversationType })
    expect(await memory.read('episodic', key)).toMatchObject(given)
    expect((await memory.search('episodic', {})).map((found) => found.key)).toEqual([key])
  }
  expect(readdirSync(join(root, 'memory/conversations'))).toEqual(['conversation-001.md'])
  expect(readdirSync(join(root, 'memory/episodic'))).toEqual([])
  await memory.delete('episodic', key)
  expect(await memory.read('episodic', key)).toBe(null)
  await memory.close()
})

it('keeps half a character that a conversation holds, also where it was a file before', async () => {
  const memory = await openFileMemory({ root: temporaryRoot() })
  const key = conversationKey('s')
  for (const body of ['whole\n', 'cut \ud83d\n', 'whole again \u{1f600}\n']) {
    const archive = { ...archiveOf('s', 1), body }
    await memory.write('episodic', key, archive, { type: conversationType })
    expect(await memory.read('episodic', key)).toMatchObject({ body })
    const found = await memory.search('episodic', {})
    expect(found.map((match) => match.key)).toEqual([key])
  }
  await memory.close()
})

it('shapes a summary so that it stands in the window, where agents are told it', async () => {
  const root = temporaryRoot()
  const memory = await openFileMemory({ root })
  const written = '  a\n---\n## Session x — 1\ncut \ud83d'
  const shaped = 'a\n- - -\n\\## Session x — 1\ncut \ufffd'
  const summary = { ...summaryOf('s', 1), summary: written }
  const options = { type: sessionSummaryType, ttl: Number.POSITIVE_INFINITY }
  await memory.write('short-term', sessionSummaryKey('s'), summary, options)
  expect(await memory.read('short-term', sessionSummaryKey('s'))).toMatchObject({ summary: shaped })
  expect(readFileSync(join(root, 'memory/EPHEMERAL.md'), 'utf8')).toContain(shaped)
  await memory.close()
})
