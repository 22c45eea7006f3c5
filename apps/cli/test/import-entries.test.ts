import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createMemoryManager } from '@recall/core'
import { type FileStore, openFileMemory, openFileStore } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createEntryImporter } from '../src/imports/import-entries.ts'
import type { ImportReport } from '../src/imports/import-report.ts'
import { createShell, jsonLines, type Shell, temporaryFolder } from './support.ts'

const said = [
  { role: 'user', content: 'paint the shed in teal', at: '2026-03-01T10:00:00Z' },
  { role: 'assistant', content: 'It is teal.', at: '2026-03-01T10:01:00Z' },
]

const tenYears = 10 * 365 * 24 * 3600 * 1000

/** What a person has after some weeks: sessions, a curated memory, notes, and those of somebody else. */
async function livedIn(): Promise<Shell> {
  const shell = createShell()
  const transcript = join(temporaryFolder(), 'shed.json')
  writeFileSync(transcript, JSON.stringify(said))
  await shell.run('archive', transcript)
  writeFileSync(join(shell.root, 'memory', 'MEMORY.md'), '# Ana\n\n## People\n\nAna likes tabs.\n')
  for (const namespace of ['default', 'bob']) {
    const memory = await openFileMemory({
      root: shell.root,
      namespace,
      encryptionKey: new Uint8Array(32).fill(7),
      clock: () => Date.parse('2026-03-02T00:00:00Z'),
    })
    await memory.write(
      'long-term',
      'tea',
      { kind: `green,\u2028for ${namespace}` },
      { tags: ['drinks', 'Ö'] },
    )
    await memory.write('working', 'pin', 'nobody reads this', { encrypt: true })
    await memory.write('short-term', 'gone', 'over by then', { ttl: 1000 })
    await memory.write('short-term', 'trip', 'until the trip is over', { ttl: tenYears })
    await memory.close()
  }
  // What is old enough lies in the archive.
  for (const day of ['2025-01-01', '2026-03-02']) {
    const memory = await openFileMemory({ root: shell.root, clock: () => Date.parse(day) })
    if (day.startsWith('2025')) await memory.write('episodic', 'ancient', 'we met in Ghent')
    else expect(await memory.cleanup({ scope: 'episodic' })).toMatchObject({ archived: 1 })
    await memory.close()
  }
  return shell
}

async function exportOf(shell: Shell): Promise<string[]> {
  const { out } = await shell.run('export')
  // When it was last asked for, and when a file was changed, is of the folder it lies in.
  return out
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.replace(/"accessedAt":\d+,"accessCount":\d+,/, ''))
    .map((line) => line.replace(/("type":"section".*?)"createdAt":\d+,"updatedAt":\d+,/, '$1'))
    .sort()
}

async function exported(shell: Shell): Promise<string> {
  const path = join(temporaryFolder(), 'export.jsonl')
  writeFileSync(path, (await shell.run('export')).out)
  return path
}

function exportWith(...entries: unknown[]): string {
  const path = join(temporaryFolder(), 'export.jsonl')
  writeFileSync(path, jsonLines(...entries))
  return path
}

describe('import of what export printed', () => {
  it('puts every memory back, with its times, in whoever’s namespace, once', async () => {
    const old = await livedIn()
    const file = await exported(old)
    const fresh = createShell()
    const before = await exportOf(old)
    expect(before.length).toBeGreaterThan(7)
    expect(await fresh.json<ImportReport>('import', file)).toMatchObject({
      entries: before.length,
      failed: [],
      skipped: {},
    })
    expect(await exportOf(fresh)).toEqual(before)
    expect(before.filter((line) => line.includes('"archived":true'))).toHaveLength(1)
    expect(before.filter((line) => line.includes(`"ttl":${tenYears}`))).toHaveLength(2)
    const window = readFileSync(join(fresh.root, 'memory', 'EPHEMERAL.md'), 'utf8')
    expect(window).toContain('**Archive**: conversations/conversation-001.md')

    writeFileSync(file, readFileSync(file, 'utf8').replaceAll('\n', '\r\n'))
    expect(await fresh.json<ImportReport>('import', file)).toMatchObject({
      entries: 0,
      unchanged: before.length,
    })
    expect((await fresh.run('doctor', '--deep')).code).toBe(0)
  })

  it('counts what another process imports at the same moment as it stands then', async () => {
    const old = createShell()
    const memory = await openFileMemory({ root: old.root })
    await memory.write('long-term', 'tea', 'green')
    await memory.write('long-term', 'cup', 'blue')
    await memory.close()
    const file = await exported(old)
    const store = await openFileStore({ root: temporaryFolder(), create: true })
    const other = createMemoryManager({ stores: store })
    let isOver = false
    const seen: FileStore = {
      ...store,
      async get(address, now) {
        const found = await store.get(address, now)
        if (!isOver) {
          isOver = true
          await other.write('long-term', 'tea', 'green')
          await other.write('long-term', 'cup', 'red')
        }
        return found
      },
    }
    const outcome = await createEntryImporter(seen, { since: 0, now: Date.now() })(file)
    expect(outcome).toMatchObject({ written: 0, unchanged: 1, kept: 1 })
    await store.close()
  })

  it('keeps what a memory is found by, and what is not to be found', async () => {
    const old = createShell()
    const memory = await openFileMemory({ root: old.root })
    const secret = `ghp_${'a1B2'.repeat(9)}`
    await memory.write('long-term', 'diary', 'the walrus diary', { index: false })
    await memory.write('long-term', 'pets', { animal: 'narwhal' }, { text: `ocelot ${secret}` })
    await memory.write('long-term', 'plain', { animal: 'lynx' })
    await memory.close()
    const file = await exported(old)
    expect(readFileSync(file, 'utf8')).not.toContain(secret)
    const fresh = createShell()
    expect(await fresh.json<ImportReport>('import', file)).toMatchObject({ entries: 3 })
    for (const shell of [old, fresh]) {
      const codes = ['walrus', 'narwhal', 'ocelot', 'lynx'].map(
        async (word) => (await shell.run('search', '--ranked', word)).code,
      )
      expect(await Promise.all(codes)).toEqual([1, 1, 0, 0])
    }
    expect(await exportOf(fresh)).toEqual(await exportOf(old))
  })

  it('keeps how often an entry was used and when it ends, and no secret of its tags', async () => {
    const now = Date.now()
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const times = {
      createdAt: now,
      updatedAt: now,
      accessedAt: now,
      ttl: 60_000_000,
      expiresAt: now + 90_000_000,
    }
    const address = { key: 'pool', scope: 'short-term', namespace: 'default' }
    const entry = { ...address, ...times, accessCount: 7, tags: [`of ${secret}`], value: 'It leaks.' }
    const file = join(temporaryFolder(), 'export.jsonl')
    writeFileSync(file, `${JSON.stringify(entry)}\n`)
    const shell = createShell()
    await shell.run('import', file)
    const { out } = await shell.run('export')
    expect(JSON.parse(out)).toMatchObject({ ...times, accessCount: 7 })
    expect(out).not.toContain(secret)
  })

  it('leaves what was archived, or brought back from there, since it was exported', async () => {
    const shell = await livedIn()
    const memory = await openFileMemory({ root: shell.root })
    await memory.write('episodic', 'recent', 'we met in Bruges')
    const file = await exported(shell)
    await memory.cleanup({ scope: 'episodic', archiveBefore: Date.now() + 1 })
    await memory.restore('episodic', 'ancient')
    expect(await shell.json<ImportReport>('import', file)).toMatchObject({ entries: 0, kept: 0 })
    expect(await memory.exists('episodic', 'recent')).toBe(false)
    expect(await memory.restore('episodic', 'ancient')).toBe(false)
    await memory.close()
  })

  it('leaves what stands there, and brings back nothing that was forgotten', async () => {
    const shell = await livedIn()
    const file = await exported(shell)
    await shell.run('forget', '--containing', 'teal', '--yes')
    writeFileSync(join(shell.root, 'memory', 'MEMORY.md'), '# Ana\n\n## People\n\nAna likes spaces.\n')
    const report = await shell.json<ImportReport>('import', file)
    expect(report).toMatchObject({ entries: 0, kept: 1, forgotten: 2 })
    expect(readFileSync(join(shell.root, 'memory', 'MEMORY.md'), 'utf8')).toContain('spaces')
    expect((await shell.run('search', 'teal')).code).toBe(1)
  })

  it('takes nothing that a memory would refuse, and no secret', async () => {
    const line = {
      scope: 'long-term',
      namespace: 'default',
      createdAt: 1,
      updatedAt: 2,
      tags: [],
      value: 'v',
    }
    const bad = [
      { ...line, key: '' },
      { ...line, key: 'a\nb' },
      { ...line, key: 'k', namespace: '' },
      { ...line, key: 'k', scope: 'for ever' },
      { ...line, key: 'k', updatedAt: 'yesterday' },
    ]
    const good = { ...line, key: '../../outside', value: `the key is ghp_${'a1B2'.repeat(9)}` }
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'in'))
    const file = join(folder, 'in', 'export.jsonl')
    const deep = JSON.stringify({ ...line, key: 'deep' }).replace(
      '"v"',
      '['.repeat(50_000) + ']'.repeat(50_000),
    )
    writeFileSync(file, [...[good, ...bad].map((each) => JSON.stringify(each)), deep].join('\n'))
    const shell = createShell(join(folder, 'root'))
    const report = await shell.json<ImportReport>('import', file)
    expect(report).toMatchObject({ entries: 1, redactions: { github: 1 } })
    expect(Object.values(report.skipped).reduce((sum, n) => sum + n, 0)).toBe(bad.length + 1)
    expect((await shell.run('search', 'the key')).out).toContain('[redacted:github]')
  })

  it('keeps no secret of a type, nor of a value that only says that it is encrypted', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`
    const line = { scope: 'long-term', namespace: 'default', tags: [], createdAt: 1, updatedAt: 2 }
    const sealed = { sealed: 'aes-256-gcm', v: 1, kid: 'k', iv: 'aaaa', data: 'bbbb' }
    const shell = createShell()
    const file = exportWith(
      { ...line, key: 't1', type: secret, value: 'plain' },
      { ...line, key: 't2', encrypted: true, value: `my ${secret}` },
      { ...line, key: 't3', encrypted: true, value: { ...sealed, note: secret } },
      { ...line, key: 't4', value: sealed },
    )
    expect(await shell.run('import', file)).toMatchObject({
      code: 0,
      out: expect.stringContaining('secrets replaced: 3 github'),
    })
    const { out } = await shell.run('export')
    expect(out).not.toContain(secret)
    for (const said of ['"type":"[redacted:github]"', 'my [redacted:github]', '"data":"bbbb"'])
      expect(out).toContain(said)
  })

  it('names what it leaves out because its key or namespace is a secret, and keeps a generated key', async () => {
    const secrets = ['a1B2', 'c3D4'].map((part) => `ghp_${part.repeat(9)}`)
    const line = { scope: 'long-term', namespace: 'default', tags: [], createdAt: 1, updatedAt: 2 }
    const shell = createShell()
    const file = exportWith(
      ...secrets.map((key) => ({ ...line, key, value: 'a' })),
      { ...line, key: 'k', namespace: secrets[0], value: 'b' },
      ...['8fG2kQ9xLw4ZpT7vNc3RbY6mHd1sJe5u', 'Qw7Zx2Lk9Vb4Nm8Tr3Yp6Hs1Gd5Fj0Ca'].map((key) => ({
        ...line,
        key,
        value: key,
      })),
    )
    expect(await shell.json('import', file)).toMatchObject({
      entries: 2,
      kept: 0,
      skipped: { 'entry whose key or namespace holds a secret': 3 },
    })
    expect(readdirSync(shell.root, { recursive: true }).join('\n')).not.toMatch(/ghp_|redacted/)
  })

  it('writes tags and a type as a memory takes them', async () => {
    const shell = createShell()
    const line = { scope: 'long-term', namespace: 'default', createdAt: 1, updatedAt: 2, value: 'v' }
    const file = exportWith(
      { ...line, key: 'a', tags: ['', 'a\u0001b', ' as it was'], type: 'one\u0000two' },
      { ...line, key: 'b', tags: [], type: '' },
    )
    await shell.run('import', file)
    const [a, b] = (await shell.run('export')).out.trim().split('\n')
    expect(JSON.parse(a as string)).toMatchObject({ tags: ['a b', ' as it was'], type: 'one two' })
    expect(JSON.parse(b as string)).toMatchObject({ tags: [], type: null })
  })
})
