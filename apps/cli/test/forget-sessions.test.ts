import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ConversationArchive, createMemoryManager } from '@recall/core'
import { openFileMemory, openFileStore } from '@recall/store-file'
import { describe, expect, it, vi } from 'vitest'
import { createArchiver } from '../src/archiving/archiver.ts'
import { addressesByKey } from '../src/memory/find-addresses.ts'
import {
  createShell,
  filesBelow,
  poolSession,
  type Shell,
  shellWithSession,
  writeSession,
} from './support.ts'

/** A hook that hands over what the host said when it compacted a session. */
async function compacted(shell: Shell, session_id: string, compact_summary: string): Promise<void> {
  const transcript_path = join(shell.root, `${session_id}.jsonl`)
  const fields = { session_id, transcript_path, hook_event_name: 'PostCompact', compact_summary }
  await shell.withInput(JSON.stringify(fields)).run('hook', 'post-compact')
}

describe('forget, of sessions', () => {
  it.each([
    ['which contains a text', ['--containing', 'walnut', '--scope', 'episodic']],
    ['of a session that contains a text', ['--containing', 'release the client']],
    ['of a session that is named', ['conversation:s1']],
  ])('takes a summary that waits to be stored %s', async (_, what) => {
    const shell = createShell()
    await shell.run('init')
    if (what.includes('release the client'))
      await shell.run('archive', writeSession(shell.root, 's1', poolSession))
    await compacted(shell, 's1', 'The walnut plan.')
    await compacted(shell, 's2', 'The hazel plan.')
    const shown = await shell.json<{ memories: { key: string }[] }>('forget', ...what)
    expect(shown.memories.map(({ key }) => key)).toContainEqual(expect.stringMatching(/^compaction:s1:/))
    expect(JSON.stringify(shown)).not.toContain('compaction:s2')
    expect((await shell.run('forget', ...what, '--yes')).code).toBe(0)
    for (const file of filesBelow(join(shell.root, 'memory')))
      expect(readFileSync(file, 'utf8')).not.toContain('walnut')
    await compacted(shell, 's1', 'The walnut plan.')
    await shell.run('hook', 'drain')
    expect((await shell.run('search', 'walnut')).code).toBe(1)
    expect((await shell.run('search', 'hazel')).code).toBe(0)
  })

  it('leaves a waiting summary where another scope is named', async () => {
    const shell = createShell()
    await shell.run('init')
    await compacted(shell, 's1', 'The walnut plan.')
    for (const what of [
      ['--containing', 'walnut', '--scope', 'long-term'],
      ['--containing', 'hazel'],
    ])
      expect((await shell.run('forget', ...what, '--yes')).code).toBe(1)
    await shell.run('hook', 'drain')
    expect((await shell.run('search', 'walnut')).code).toBe(0)
  })

  it('counts as found a session of which only the entry in the window is left', async () => {
    const shell = await shellWithSession()
    rmSync(join(shell.root, 'memory/conversations/conversation-001.md'))
    expect(await shell.run('forget', 'conversation:pool-leak')).toMatchObject({ code: 0, err: '' })
  })

  it('takes everything that was kept of a session, wherever it lies', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    const others = await openFileMemory({ root: shell.root, namespace: 'ana' })
    const archive = await memory.read<ConversationArchive>('episodic', 'conversation:pool-leak')
    const helper = { ...archive, sessionId: 'pool-leak/agent-1', log: undefined }
    await memory.write('episodic', 'conversation:pool-leak/agent-1', helper, { type: 'conversation' })
    await memory.write(
      'episodic',
      'conversation:pool-leaks',
      { ...helper, sessionId: 'pool-leaks' },
      { type: 'conversation' },
    )
    await memory.write('episodic', 'compaction:pool-leak:1', 'a summary', { type: 'compaction-summary' })
    await memory.write('episodic', 'edited-summary:pool-leak:1', 'my own words', { type: 'note' })
    await memory.write('episodic', 'kept', 'nothing of the kind')
    await others.write('long-term', 'note', 'they say: never releases it')
    expect(await shell.json('forget', '--containing', 'never releases it')).toMatchObject({
      memories: expect.arrayContaining([
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'episodic', key: 'conversation:pool-leak/agent-1' },
        { scope: 'episodic', key: 'compaction:pool-leak:1' },
        { scope: 'episodic', key: 'edited-summary:pool-leak:1' },
        { scope: 'short-term', key: 'session:pool-leak' },
        { scope: 'long-term', key: 'note', namespace: 'ana' },
      ]),
    })
    await shell.run('forget', 'conversation:pool-leak', '--yes')
    const keys = (await memory.search('episodic', {})).map(({ key }) => key).sort()
    expect(keys).toEqual(['conversation:pool-leaks', 'kept'])
    await memory.close()
    await others.close()
  })

  it('takes no session whose id only looks like another part of the one that was named', async () => {
    const shell = await shellWithSession()
    const path = writeSession(shell.transcripts, 'pool-leak#2', [{ role: 'user', text: 'Is it over?' }])
    await shell.run('archive', path)
    expect(await shell.json('forget', 'conversation:pool-leak#2')).toMatchObject({
      memories: [
        { scope: 'episodic', key: 'conversation:pool-leak#2' },
        { scope: 'short-term', key: 'session:pool-leak#2' },
      ],
    })
    expect(await shell.json('forget', 'conversation:pool-leak', '--yes')).toMatchObject({
      memories: [
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'short-term', key: 'session:pool-leak' },
      ],
    })
    writeSession(shell.transcripts, 'pool-leak#2', [
      { role: 'user', text: 'Is it over?' },
      { role: 'assistant', text: 'It is.' },
    ])
    expect(await shell.json('import', path)).toMatchObject({ updated: 1, forgotten: 0 })
  })

  it('looks through what is archived once, however many sessions it forgets', async () => {
    const shell = await shellWithSession()
    const store = await openFileStore({ root: shell.root })
    const look = vi.fn(store.cold?.find)
    const watched = { ...store, ...(store.cold ? { cold: { ...store.cold, find: look } } : {}) }
    const keys = ['pool-leak', 'another', 'a-third'].map((session) => `conversation:${session}`)
    expect(await addressesByKey(watched, 'default', keys)).toMatchObject([
      { scope: 'episodic', key: 'conversation:pool-leak' },
      { scope: 'short-term', key: 'session:pool-leak' },
      { scope: 'episodic', key: 'conversation:pool-leak' },
    ])
    expect(look).toHaveBeenCalledTimes(1)
    await store.close()
  })

  it('takes the copies that somebody made of an archive with it', async () => {
    const shell = await shellWithSession()
    const archives = join(shell.root, 'memory/conversations')
    for (const copy of ['conversation-002.md', 'conversation-003.md'])
      copyFileSync(join(archives, 'conversation-001.md'), join(archives, copy))
    expect(await shell.json('forget', 'conversation:pool-leak')).toMatchObject({
      memories: expect.arrayContaining([
        { scope: 'episodic', key: 'conversation:pool-leak' },
        { scope: 'episodic', key: 'conversation:pool-leak@conversation-002' },
        { scope: 'episodic', key: 'conversation:pool-leak@conversation-003' },
      ]),
    })
    await shell.run('forget', 'conversation:pool-leak', '--yes')
    expect(readdirSync(archives)).toEqual([])
  })

  it('keeps an earlier export from bringing back what was kept of a session', async () => {
    const shell = await shellWithSession()
    const memory = await openFileMemory({ root: shell.root })
    const ofSession = ['compaction:pool-leak:1', 'edited-summary:pool-leak:1']
    for (const key of ofSession) await memory.write('episodic', key, 'the pool was drained')
    await memory.write('episodic', 'about the pool', 'the pool is blue')
    const exported = join(shell.transcripts, 'exported.jsonl')
    writeFileSync(exported, (await shell.run('export')).out)
    for (const key of ofSession) await memory.delete('episodic', key)
    await memory.delete('episodic', 'about the pool')
    await memory.close()
    await shell.run('consume', '--clear')
    await shell.run('forget', 'conversation:pool-leak', '--yes')
    expect(await shell.json('import', exported)).toMatchObject({ entries: 1, forgotten: 4 })
    expect((await shell.run('search', 'pool')).out).toContain('the pool is blue')
    expect((await shell.run('export')).out).not.toContain('pool-leak')
  })

  it('keeps a session forgotten that somebody forgets while a model summarises what it has grown by', async () => {
    const shell = await shellWithSession()
    writeSession(shell.transcripts, 'pool-leak', [...poolSession, { role: 'user', text: 'Thank you.' }])
    const lm = {
      model: 'slow',
      async complete() {
        await shell.run('forget', 'conversation:pool-leak', '--yes')
        return JSON.stringify({ summary: 'The pool.', topics: [], decisions: [], action_items: [] })
      },
    }
    const store = await openFileStore({ root: shell.root })
    const archiver = await createArchiver(createMemoryManager({ stores: store }), store, 'session', { lm })
    await expect(archiver(shell.path)).rejects.toMatchObject({ details: { forgotten: true } })
    await store.close()
    expect((await shell.run('export')).out).not.toContain('pool-leak')
  })

  it('keeps a session out of the window when only its entry there was forgotten', async () => {
    const shell = await shellWithSession()
    await shell.run('forget', 'session:pool-leak', '--yes')
    expect(await shell.json('archive', shell.path)).toMatchObject({
      archived: [{ status: 'unchanged', window: 'skipped' }],
    })
    writeSession(shell.transcripts, 'pool-leak', [...poolSession, { role: 'user', text: 'Thank you.' }])
    expect(await shell.json('archive', shell.path)).toMatchObject({
      archived: [{ status: 'updated', window: 'skipped' }],
    })
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
    // It has ended all the same, and is no checkpoint.
    const archived = readFileSync(join(shell.root, 'memory/conversations/conversation-001.md'), 'utf8')
    expect(archived).toContain('source: "session"')
  })
})
