import {
  appendFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { memoryScopes } from '@recall/core'
import { layouts, openFileMemory } from '@recall/store-file'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { readNotes } from '../src/hosts/session-notes.ts'
import { event, hooked } from './hooked-session.ts'
import {
  createShell,
  expiredIn,
  poolSession,
  serveTinyModel,
  temporaryFolder,
  writeExpired,
  writeSession,
} from './support.ts'

describe('archiving by hooks', () => {
  it('archives a session of Codex that was moved before the next one starts', async () => {
    const shell = createShell()
    await shell.run('init', '--layout', 'entity')
    const [sessions, archived] = ['sessions', 'archived_sessions'].map((name) => join(shell.root, name))
    for (const folder of [sessions, archived]) mkdirSync(folder as string)
    const start = (id: string, path: string) => {
      const codex = { session_id: id, turn_id: 't', hook_event_name: 'SessionStart', transcript_path: path }
      return shell.withInput(event(codex)).run('hook', 'session-start')
    }
    const rollout = writeSession(sessions as string, 'rollout-1', poolSession)
    await start('rollout-1', rollout)
    renameSync(rollout, join(archived as string, 'rollout-1.jsonl'))
    expect((await start('rollout-2', join(sessions as string, 'rollout-2.jsonl'))).out).toContain(
      'Session rollout-1',
    )
  })

  it('tells of a session that was open beside a later one, although that was consumed before it ended', async () => {
    const shell = createShell()
    await shell.run('init')
    const sessions = {
      long: writeSession(shell.root, 'long', poolSession, '2026-03-05'),
      later: writeSession(shell.root, 'later', poolSession, '2026-03-06'),
    }
    const end = async (id: keyof typeof sessions) => {
      const ended = { session_id: id, transcript_path: sessions[id], hook_event_name: 'SessionEnd' }
      await shell.withInput(event(ended)).run('hook', 'session-end')
      for (const argv of shell.detached.splice(0)) await shell.run(...argv)
    }
    const start = async (session_id: string) => {
      const started = { session_id, transcript_path: '', hook_event_name: 'SessionStart' }
      return (await shell.withInput(event(started)).run('hook', 'session-start', '--clear')).out
    }
    await end('later')
    expect(await start('s1')).toContain('Session later')
    await end('long')
    expect(await start('s2')).toContain('Session long')
    await end('long')
    expect(await start('s3')).not.toContain('Session l')
  })

  it('leaves the rest of a session that takes longer than a start may to a process of its own', async () => {
    const shell = createShell()
    await shell.run('init')
    const turns = Array.from(
      { length: 6000 },
      (_, i) => ({ role: 'user', text: `The tapir of row ${i}.` }) as const,
    )
    const transcript = writeSession(shell.root, 's1', [...turns, { role: 'user', text: 'The last okapi.' }])
    const hook = (session_id: string, transcript_path: string, hook_event_name: string, name: string) =>
      shell.withInput(event({ session_id, transcript_path, hook_event_name })).run('hook', name)
    await hook('s1', transcript, 'SessionEnd', 'session-end')
    shell.detached.length = 0
    let passed = 0
    const time = vi.spyOn(performance, 'now').mockImplementation(() => passed++)
    const started = await hook('s2', join(shell.root, 's2.jsonl'), 'SessionStart', 'session-start')
    time.mockRestore()
    expect(started).toMatchObject({ code: 0, err: '' })
    expect(started.out).not.toContain('s1')
    expect(passed).toBeLessThan(6000)
    expect(shell.detached).toHaveLength(1)
    for (const argv of shell.detached) await shell.run(...argv)
    expect((await shell.run('search', 'okapi')).code).toBe(0)
    const { out } = await hook('s3', join(shell.root, 's3.jsonl'), 'SessionStart', 'session-start')
    expect(out).toContain('Session s1')
  })

  /** A shell whose model answers once it has called `asked`. */
  const shellWithModel = async (asked: () => unknown) => {
    const server = createServer(async (_, response) => {
      await asked()
      response.end(
        JSON.stringify({ choices: [{ message: { content: '{"summary": "By a model.", "topics": []}' } }] }),
      )
    })
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const root = temporaryFolder()
    const shell = createShell(root, null, {
      RECALL_ROOT: root,
      RECALL_LM_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
      RECALL_LM_MODEL: 'slow',
    })
    return { root, shell }
  }

  it('keeps what the host says of a session while a checkpoint of it is saved', async () => {
    const say = (zebra?: string) => {
      const about = { session_id: 's1', transcript_path, hook_event_name: 'PostCompact' }
      const input = event({ ...about, ...(zebra ? { compact_summary: `The zebra ${zebra}.` } : {}) })
      return shell.withInput(input).run('hook', 'post-compact')
    }
    const later = ['sleeps']
    const { root, shell } = await shellWithModel(() => say(later.pop()))
    await shell.run('init', '--layout', 'entity')
    const transcript_path = writeSession(root, 's1', poolSession)
    await say()
    await say('eats')
    await shell.run('hook', 'drain')
    const { results } = await shell.json<{ results: { snippet: string }[] }>('search', 'zebra')
    expect(results).toHaveLength(2)
    expect((await shell.run('consume')).out).toBe('The window is empty.\n')
  })

  it('does not keep a session waiting for a model, which summarises later', async () => {
    let asked = 0
    const { root, shell } = await shellWithModel(() => asked++)
    await shell.run('init', '--layout', 'entity')
    const ended = {
      session_id: 's1',
      transcript_path: writeSession(root, 's1', poolSession),
      hook_event_name: 'SessionEnd',
    }
    await shell.withInput(event(ended)).run('hook', 'session-end')
    const starting = {
      session_id: 's2',
      transcript_path: join(root, 's2.jsonl'),
      hook_event_name: 'SessionStart',
    }
    // What is left to the model is not done again and again until the time is over.
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now++)
    const { out } = await shell.withInput(event(starting)).run('hook', 'session-start')
    clock.mockRestore()
    expect(now).toBeLessThan(1000)
    expect(out).toContain('Session s1')
    expect(asked).toBe(0)
    await shell.run('hook', 'drain')
    expect(readFileSync(join(root, 'memory/EPHEMERAL.md'), 'utf8')).toContain('By a model.')
    await shell.run('hook', 'drain')
    expect(asked).toBe(1)
  })

  it('has the model summarise a session that was killed, once, also when that goes on meanwhile', async () => {
    let asked = 0
    const { root, shell } = await shellWithModel(() => {
      asked++
      appendFileSync(transcript, '{"role":"user","content":"wash the okapi"}\n')
    })
    await shell.run('init', '--layout', 'entity')
    const transcript = writeSession(root, 's1', poolSession)
    utimesSync(transcript, 1_700_000_000, 1_700_000_000)
    const report = async (session_id: string, name: string) => {
      const transcript_path = join(root, `${session_id}.jsonl`)
      shell.detached.length = 0
      await shell.withInput(event({ session_id, transcript_path, hook_event_name: name })).run('hook', name)
      for (const argv of shell.detached) await shell.run(...argv)
    }
    await report('s1', 'stop')
    await report('s2', 'session-start')
    expect(readFileSync(join(root, 'memory/EPHEMERAL.md'), 'utf8')).toContain('By a model.')
    expect(asked).toBe(1)
    await report('s2', 'session-end')
    expect(asked).toBe(1)
    await report('s3', 'session-start')
    expect((await shell.run('search', 'okapi')).code).toBe(0)
    expect(asked).toBe(2)
  })

  it('is done with a session that was killed once the model has summarised it', async () => {
    let asked = 0
    const { root, shell } = await shellWithModel(() => asked++)
    await shell.run('init', '--layout', 'entity')
    const start = (session_id: string) => {
      const transcript_path = join(root, `${session_id}.jsonl`)
      const input = { session_id, transcript_path, hook_event_name: 'SessionStart' }
      return shell.withInput(event(input)).run('hook', 'session-start')
    }
    writeSession(root, 's1', poolSession)
    await start('s1')
    await start('s2')
    for (const argv of shell.detached.splice(0)) await shell.run(...argv)
    await start('s3')
    expect({ asked, detached: shell.detached }).toEqual({ asked: 1, detached: [] })
    const [left] = readNotes({ root, layout: layouts.entity }).filter(({ sessionId }) => sessionId === 's1')
    expect(left).toMatchObject({ state: 'open', saved: 'session', done: expect.any(String) })
  })

  it('says what could not be archived also where a model is to summarise later', async () => {
    const { root, shell } = await shellWithModel(() => {})
    await shell.run('init', '--layout', 'entity')
    const eventOf = (session_id: string, hook_event_name: string) => {
      const transcript_path = join(root, `${session_id}.jsonl`)
      return shell.withInput(event({ session_id, transcript_path, hook_event_name }))
    }
    writeFileSync(join(root, 's1.jsonl'), 'no transcript\n')
    await eventOf('s1', 'SessionEnd').run('hook', 'session-end')
    expect((await eventOf('s2', 'SessionStart').run('hook', 'session-start')).out).toContain('Not archived: ')
  })

  it('keeps a session waiting for no more of the earlier ones than there is time for', async () => {
    const shell = createShell()
    await shell.run('init')
    const eventOf = (session_id: string, hook_event_name: string) => {
      const transcript_path = join(shell.root, `${session_id}.jsonl`)
      return shell.withInput(event({ session_id, transcript_path, hook_event_name }))
    }
    for (const id of ['s1', 's2', 's3']) {
      writeSession(shell.root, id, poolSession)
      await eventOf(id, 'SessionEnd').run('hook', 'session-end')
    }
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      now += 1500
      return now
    })
    await eventOf('s4', 'SessionStart').run('hook', 'session-start')
    clock.mockRestore()
    const archives = () => readdirSync(join(shell.root, 'memory/conversations')).length
    expect(archives()).toBeLessThan(3)
    await shell.run('hook', 'drain')
    expect(archives()).toBe(3)
  })

  it('archives without a model when the address of one is wrong', async () => {
    const root = temporaryFolder()
    const shell = createShell(root, null, {
      RECALL_ROOT: root,
      RECALL_LM_URL: 'localhost:1/v1',
      RECALL_LM_MODEL: 'm',
    })
    await shell.run('init')
    const ended = {
      session_id: 's1',
      transcript_path: writeSession(root, 's1', poolSession),
      hook_event_name: 'SessionEnd',
    }
    await shell.withInput(event(ended)).run('hook', 'session-end')
    expect((await shell.run('hook', 'drain')).err).toContain('RECALL_LM_URL is not a URL')
    expect((await shell.run('consume')).out).toContain('Session s1')
  })

  it.each(['is there', 'is gone'])(
    'enters a session that was only saved as a checkpoint when its transcript %s',
    async (kept) => {
      const shell = createShell()
      await shell.run('init')
      const transcript_path = writeSession(shell.root, 's1', poolSession)
      const compacted = { session_id: 's1', transcript_path, hook_event_name: 'PreCompact' }
      await shell.withInput(event(compacted)).run('hook', 'pre-compact')
      await shell.run('hook', 'drain')
      expect((await shell.run('consume')).out).toBe('The window is empty.\n')
      if (kept === 'is gone') rmSync(transcript_path)
      const starting = {
        session_id: 's2',
        transcript_path: join(shell.root, 's2.jsonl'),
        hook_event_name: 'SessionStart',
      }
      const { out } = await shell.withInput(event(starting)).run('hook', 'session-start')
      expect(out).toContain('Session s1')
      await shell.run('consume', '--clear')
      expect((await shell.withInput(event(starting)).run('hook', 'session-start')).out).toBe('')
    },
  )

  it('enters a session from its checkpoint whose transcript is gone when it ends', async () => {
    const { shell, transcript, run } = await hooked()
    await run('pre-compact', 'PreCompact')
    await shell.run('hook', 'drain')
    await run('session-end', 'SessionEnd')
    rmSync(transcript)
    await shell.run('hook', 'drain')
    expect((await shell.run('consume')).out).toContain('Session s1')
  })

  it('follows a session to the file in which it goes on', async () => {
    const shell = createShell()
    await shell.run('init')
    const [first, second] = ['a', 'b'].map((name) => join(shell.root, name))
    for (const folder of [first, second]) {
      mkdirSync(folder as string)
      const transcript_path = writeSession(folder as string, 's1', poolSession)
      const going = { session_id: 's1', transcript_path, hook_event_name: 'Stop' }
      await shell.withInput(event(going)).run('hook', 'stop')
    }
    const place = { root: shell.root, layout: layouts.entity }
    expect(readNotes(place)).toMatchObject([{ transcript: join(second as string, 's1.jsonl') }])
  })

  it('saves a session that was compacted also when it goes on first', async () => {
    const { shell, run } = await hooked()
    await run('pre-compact', 'PreCompact')
    await run('stop', 'Stop')
    await shell.run('hook', 'drain')
    const archive = join(shell.root, 'memory/conversations/conversation-001.md')
    expect(readFileSync(archive, 'utf8')).toContain('source: "checkpoint"')
  })

  it('removes the files of what is over, once a session has ended', async () => {
    const shell = createShell()
    await shell.run('init')
    const long = Date.parse('2026-03-06T12:00:00Z') - 3600_000
    const memory = await openFileMemory({ root: shell.root, clock: () => long })
    for (const scope of memoryScopes) {
      await memory.write(scope, 'over', 'x', { ttl: 1000 })
      await memory.write(scope, 'kept', 'x', { ttl: 24 * 3600_000 })
    }
    await memory.close()
    await writeExpired(shell.root, long)
    const transcript_path = writeSession(shell.root, 's1', poolSession)
    await shell
      .withInput(event({ session_id: 's1', transcript_path, hook_event_name: 'SessionEnd' }))
      .run('hook', 'session-end')
    await shell.run('hook', 'drain')
    for (const scope of memoryScopes)
      expect(readdirSync(join(shell.root, 'memory', scope))).toEqual(['kept.md'])
    expect(expiredIn(shell.root)).toEqual([])
  })

  it('gives what it archived its vectors in the background, where a memory has some', async () => {
    const asked: string[] = []
    const root = temporaryFolder()
    const model = await serveTinyModel((texts) => asked.push(...texts))
    const shell = createShell(root, null, { RECALL_ROOT: root, ...model })
    await shell.run('init', '--layout', 'entity')
    const end = async (name: string): Promise<void> => {
      const transcript_path = writeSession(root, name, poolSession)
      const input = event({ session_id: name, transcript_path, hook_event_name: 'SessionEnd' })
      await shell.withInput(input).run('hook', 'session-end')
      await shell.run('hook', 'drain')
    }
    await end('first')
    expect(asked).toEqual([])
    expect((await shell.run('reindex', '--model')).code).toBe(0)
    const before = asked.length
    expect(before).toBeGreaterThan(0)
    appendFileSync(join(root, 'memory/MEMORY.md'), '\n## Zebra\n\nThe zebra crossing is closed.\n')
    await end('second')
    expect(asked.slice(before).join('\n')).toContain('zebra crossing')
  })

  it('archives all the same where the model that gave the vectors is away, and says so', async () => {
    const root = temporaryFolder()
    const model = await serveTinyModel()
    await createShell(root, null, { RECALL_ROOT: root, ...model }).run('init')
    await createShell(root, null, { RECALL_ROOT: root, ...model }).run('reindex', '--model')
    const away = { ...model, RECALL_EMBEDDING_URL: 'http://127.0.0.1:1/v1' }
    const shell = createShell(root, null, { RECALL_ROOT: root, ...away })
    const transcript_path = writeSession(root, 's1', poolSession)
    const input = event({ session_id: 's1', transcript_path, hook_event_name: 'SessionEnd' })
    await shell.withInput(input).run('hook', 'session-end')
    expect(await shell.run('hook', 'drain')).toMatchObject({
      code: 0,
      err: expect.stringContaining('new sessions got no vectors: no embedding server answers'),
    })
    expect((await shell.run('search', 'retry path')).code).toBe(0)
  })
})
