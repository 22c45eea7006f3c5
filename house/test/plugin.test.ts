import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readWindow } from '@recall/sessions'
import { openFileMemory } from '@recall/store-file'
import { expect, it, onTestFinished } from 'vitest'
import { run } from '../../apps/cli/src/run.ts'
import { create } from '../examples/plugin.ts'
import { read } from './workspace.ts'

/** The plugin of `docs/hosts.md` for the folder of an entity with these files. */
async function open(files: Record<string, string> = {}) {
  const root = await mkdtemp(join(tmpdir(), 'recall-plugin-'))
  onTestFinished(() => rm(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  const plugin = await create({}, { entityRoot: root, entityName: 'ada' })
  onTestFinished(() => plugin.close())
  const archive = (n: number) =>
    plugin.archiveSession({
      sessionId: `s${n}`,
      messages: [
        { role: 'user', content: `Mend walrus ${n}`, timestamp: `2026-02-0${n}T10:00:00Z` },
        { role: 'assistant', content: 'Done.' },
      ],
    })
  return { root, plugin, archive }
}

/** What `recall status` says of a memory. */
async function statusOf(root: string): Promise<{ health: string; reason: string }> {
  let printed = ''
  const out = (text: string): void => {
    printed += text
  }
  const io = { out, err: out, env: {}, cwd: root, home: root, now: Date.now, ask: async () => null }
  await run(['status', '--json', '--root', root], {
    ...io,
    outputDelivered: async () => true,
    isTerminal: false,
    isErrorTerminal: false,
    columns: 80,
  })
  return JSON.parse(printed)
}

it('stands in docs/hosts.md to the letter', () => {
  expect(read('docs/hosts.md')).toContain(`\`\`\`js\n${read('house/examples/plugin.ts')}\`\`\``)
})

it('is healthy as soon as it is created, and stays so', async () => {
  const { plugin, archive } = await open()
  expect(plugin.health()).toEqual({ status: 'healthy' })
  await archive(1)
  expect(plugin.health()).toEqual({ status: 'healthy' })
})

it('keeps what there is of a memory', async () => {
  const { root, plugin } = await open({ 'memory/MEMORY.md': '# Mine\n' })
  expect(plugin.health()).toEqual({ status: 'healthy' })
  expect(readFileSync(join(root, 'memory/MEMORY.md'), 'utf8')).toBe('# Mine\n')
})

it.each([
  ['entity', 'memory/EPHEMERAL.md', 'memory/conversations'],
  ['user', 'EPHEMERAL.md', 'memories'],
])('is as healthy as the command says, in the %s layout', async (_, window, archives) => {
  const { root, plugin } = await open({ [window]: '' })
  const changes = [
    () => {},
    () => rmSync(join(root, 'memory/MEMORY.md')),
    () => rmSync(join(root, archives), { recursive: true }),
    () => rmSync(join(root, 'memory'), { recursive: true }),
  ]
  const seen = []
  for (const change of changes) {
    change()
    const { health, reason } = await statusOf(root)
    expect(plugin.health()).toEqual(health === 'healthy' ? { status: health } : { status: health, reason })
    seen.push(health)
  }
  expect(seen).toEqual(['healthy', 'degraded', 'degraded', 'down'])
})

it('is down where the memory cannot be told', async () => {
  const { root, plugin } = await open()
  writeFileSync(join(root, '.recall-echo.json'), '{')
  expect(plugin.health()).toEqual({ status: 'down', reason: expect.stringContaining('is not JSON') })
})

it('keeps as many sessions in its window as the settings say', async () => {
  const { root, archive } = await open({ 'memory/.recall-echo.toml': '[ephemeral]\nmax_entries = 2\n' })
  for (const n of [1, 2, 3, 4]) await archive(n)
  const memory = await openFileMemory({ root })
  onTestFinished(() => memory.close())
  expect((await readWindow(memory)).map(({ sessionId }) => sessionId)).toEqual(['s3', 's4'])
})
