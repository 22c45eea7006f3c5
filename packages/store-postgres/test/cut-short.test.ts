import { fork } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { MemoryErrorCode } from '@recall/core'
import { beforeAll, expect, it, onTestFinished } from 'vitest'
import { isPgliteFolder, openPglite, openPgliteMemory } from '../src/pglite.ts'
import { template } from './support/template.ts'

function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'recall-postgres-')))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

let dump: Blob

beforeAll(async () => {
  const folder = mkdtempSync(join(tmpdir(), 'recall-postgres-'))
  const { dump: take, close } = await openPglite({ folder, template: await template() })
  dump = await take()
  await close()
  rmSync(folder, { recursive: true, force: true })
})

/** Begins to make a database in a process that is killed at its nth file. */
async function beginAndDie(folder: string, files: number, dumped?: string): Promise<void> {
  const script = fileURLToPath(new URL('./children/cut-short-child.ts', import.meta.url))
  const given = [folder, String(files), ...(dumped ? [dumped] : [])]
  const child = fork(script, given, { execArgv: ['--import', 'tsx', '-C', '@recall/source'] })
  const [, signal] = await once(child, 'exit')
  expect(signal).toBe('SIGKILL')
}

async function expectWhole(folder: string, given: { template?: Blob }): Promise<void> {
  const memory = await openPgliteMemory({ folder, ...given })
  await memory.write('long-term', 'key', 'value')
  await memory.close()
  const again = await openPgliteMemory({ folder, ...given })
  expect(await again.read('long-term', 'key')).toBe('value')
  await again.close()
  expect(readdirSync(folder)).toEqual(['data'])
}

it('a database is made anew where a killed process had unpacked the beginning of a template', async () => {
  const folder = temporaryFolder()
  const dumped = join(temporaryFolder(), 'dump.tar')
  writeFileSync(dumped, Buffer.from(await dump.arrayBuffer()))
  // A dump of a folder begins with the file by which Postgres knows a database.
  await beginAndDie(folder, 2, dumped)
  expect(isPgliteFolder(folder)).toBe(false)
  await expectWhole(folder, { template: dump })
})

it('a database is made anew where a killed process had made nearly all files of it', async () => {
  const folder = temporaryFolder()
  await beginAndDie(folder, 1000)
  expect(isPgliteFolder(folder)).toBe(false)
  await expectWhole(folder, {})
})

it('a template plays no part where there is a database', async () => {
  const folder = temporaryFolder()
  await expectWhole(folder, { template: dump })
  const memory = await openPgliteMemory({ folder, template: dump })
  expect(await memory.read('long-term', 'key')).toBe('value')
  await memory.close()
})

it('no database is made over the remains of another', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data', 'base'), { recursive: true })
  writeFileSync(join(folder, 'data', 'base', '1'), 'rows')
  for (const given of [{}, { template: dump }]) {
    await expect(openPglite({ folder, ...given })).rejects.toMatchObject({
      code: MemoryErrorCode.CORRUPTION,
      message: expect.stringMatching(
        /data holds files, but no PG_VERSION.*restore a backup, or move it away/,
      ),
    })
  }
  expect(readFileSync(join(folder, 'data', 'base', '1'), 'utf8')).toBe('rows')
  expect(readdirSync(folder)).toEqual(['data'])
})

it('a database is made in an empty folder', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'data'))
  await expectWhole(folder, { template: dump })
})
