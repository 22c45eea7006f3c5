import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, watch } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeFiles, writeSession } from './support.ts'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

/** A model that takes the first summaries and never answers the next one. */
async function stuckAfter(summaries: number) {
  let asked = 0
  let stuck = (): void => {}
  const isStuck = new Promise<void>((resolve) => {
    stuck = resolve
  })
  const server = createServer((_, response) => {
    if (++asked > summaries) return stuck()
    const content = '{"summary": "By a model.", "topics": [], "decisions": [], "actionItems": []}'
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message: { content } }] }))
  })
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, isStuck }
}

it('an import that is interrupted says that it goes on where it stopped, and does', async () => {
  const shell = createShell()
  await shell.run('init')
  const paths = ['s1', 's2', 's3'].map((id) => writeSession(shell.root, id, poolSession))
  const { url, isStuck } = await stuckAfter(1)
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions', '@recall/source', main, 'import', ...paths],
    {
      env: { ...process.env, RECALL_ROOT: shell.root, RECALL_LM_URL: url, RECALL_LM_MODEL: 'slow' },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const said = text(child.stderr)
  await isStuck
  child.kill('SIGINT')
  const [code] = await once(child, 'close')
  expect(code).toBe(130)
  expect(await said).toContain('recall: interrupted: what was imported stays; run the same again')
  expect(await shell.json('import', ...paths)).toMatchObject({ archived: 2, unchanged: 1, failed: [] })
  expect((await shell.run('doctor')).code).toBe(0)
})

/** Runs a command, and sends it a signal once something of this name appears in a folder. */
async function interrupted(signal: NodeJS.Signals, folder: string, mark: string, argv: string[]) {
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--conditions', '@recall/source', main, ...argv],
    {
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  )
  const watcher = watch(folder, (_, name) => {
    if (name?.includes(mark)) child.kill(signal)
  })
  const said = text(child.stderr)
  await once(child, 'close')
  watcher.close()
  return { endedBy: child.signalCode, said: await said, left: readdirSync(folder) }
}

it.runIf(process.platform !== 'win32').each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
  'a backup and a restore that %s ends leave no copy of the memory behind',
  async (signal) => {
    const shell = createShell()
    // Packing and unpacking it take long enough for the signal to come meanwhile.
    writeFiles(shell.root, { 'memory/long.md': `${randomBytes(12_000_000).toString('hex')}\n` })
    const folder = temporaryFolder()
    const file = join(folder, 'memory.tar.gz')
    const backup = ['backup', file, '--root', shell.root]
    expect(await interrupted(signal, folder, '.unfinished-', backup)).toEqual({
      endedBy: signal,
      said: 'recall: interrupted: nothing was saved\n',
      left: [],
    })
    await shell.run(...backup)
    const restore = ['restore', file, '--root', join(folder, 'restored')]
    expect(await interrupted(signal, folder, '.restoring-', restore)).toEqual({
      endedBy: signal,
      said: 'recall: interrupted: nothing was restored\n',
      left: ['memory.tar.gz'],
    })
  },
)

it.runIf(process.platform !== 'win32')(
  'a registration that is interrupted leaves no file for the key behind',
  async () => {
    const folder = temporaryFolder()
    const server = createServer(() => child.kill('SIGINT'))
    onTestFinished(() => {
      server.closeAllConnections()
      server.close()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const argv = ['hub', 'register', 'ada', '--url', url, '--key-file', join(folder, 'hub.json')]
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--conditions', '@recall/source', main, ...argv],
      { stdio: ['ignore', 'ignore', 'pipe'] },
    )
    const said = text(child.stderr)
    await once(child, 'close')
    expect(await said).toBe('recall: interrupted: no key was kept\n')
    expect(readdirSync(folder)).toEqual([])
  },
)

it.runIf(process.platform !== 'win32')(
  'a window stays when its reader is gone before it was printed',
  async () => {
    const shell = createShell()
    await shell.run('archive', writeSession(shell.root, 's1', poolSession))
    const start = { session_id: 'n', hook_event_name: 'SessionStart', transcript_path: '/n' }
    for (const argv of [
      ['consume', '--clear'],
      ['hook', 'session-start', '--clear'],
    ]) {
      const child = spawn(
        process.execPath,
        ['--import', 'tsx', '--conditions', '@recall/source', main, ...argv],
        {
          env: { ...process.env, RECALL_ROOT: shell.root },
        },
      )
      child.stdout.destroy()
      child.stdin.end(JSON.stringify(start))
      const said = text(child.stderr)
      const [code] = await once(child, 'close')
      if (argv[0] === 'consume') {
        expect([code, await said]).toEqual([
          3,
          'recall: the window stays as it was: nobody read what was printed\n',
        ])
      }
      expect((await shell.run('consume')).out).toContain('Session s1')
    }
  },
)

it.runIf(process.platform !== 'win32').each([
  ['stays when standard output is closed', '>&-', 3, 'Session s1'],
  ['is emptied when what is printed is thrown away', '>/dev/null', 0, 'The window is empty.'],
])('a window %s', async (_, redirection, expected, left) => {
  const shell = createShell()
  await shell.run('archive', writeSession(shell.root, 's1', poolSession))
  const recall = [process.execPath, '--import', 'tsx', '--conditions', '@recall/source', main]
  const child = spawn('sh', ['-c', `exec "$@" ${redirection}`, 'sh', ...recall, 'consume', '--clear'], {
    env: { ...process.env, RECALL_ROOT: shell.root },
  })
  expect(await once(child, 'close')).toEqual([expected, null])
  expect((await shell.run('consume')).out).toContain(left)
})

it('a question that is answered with Ctrl-C ends the command like any other', async () => {
  const interrupted = Object.assign(new Error('Aborted with Ctrl+C'), { code: 'ABORT_ERR' })
  const shell = createShell(temporaryFolder(), interrupted)
  await shell.run('init', '--target', 'claude')
  expect(await shell.run('uninit', '--purge')).toMatchObject({ code: 130, out: '' })
})
