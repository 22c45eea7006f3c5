import { spawn } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { temporaryFolder } from './support.ts'

const output = fileURLToPath(new URL('../src/terminal/output.ts', import.meta.url))
const program = (write = 'writeResult') => `import { ${write} } from ${JSON.stringify(output)}
for (let i = 0; i < 3000; i++) ${write}(String(i).padStart(999) + '\\n')`

const start = (code: string) =>
  spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const exitCode = (child: ReturnType<typeof start>): Promise<number | null> =>
  new Promise((resolve) => child.once('close', resolve))

it.each([
  ['writeResult', 'stdout'],
  ['writeTalk', 'stderr'],
] as const)('gives a slow reader everything, in order (%s)', async (write, stream) => {
  const child = start(program(write))
  const chunks: Buffer[] = []
  // Nobody reads while the pipe fills up.
  child[stream].pause()
  await new Promise((resolve) => child[stream].once('readable', resolve))
  child[stream].on('data', (chunk: Buffer) => chunks.push(chunk)).resume()
  expect(await exitCode(child)).toBe(0)
  const lines = Buffer.concat(chunks).toString().trimEnd().split('\n')
  expect(lines.map(Number)).toEqual(Array.from({ length: 3000 }, (_, i) => i))
})

it('takes a reader that goes away for the end', async () => {
  const child = start(program())
  child.stdout.once('data', () => child.stdout.destroy())
  expect(await exitCode(child)).toBe(0)
})

it('goes on when nobody reads what it tells', async () => {
  const child = start(`
import { writeResult, writeTalk } from ${JSON.stringify(output)}
writeTalk('reading\\n')
setImmediate(() => {
  writeTalk('still reading\\n')
  writeResult('done')
})`)
  child.stderr.destroy()
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  expect(await exitCode(child)).toBe(0)
  expect(out).toBe('done')
})

it('leaves symbolic links to be followed', async () => {
  const folder = temporaryFolder()
  mkdirSync(join(folder, 'there'))
  symlinkSync(join(folder, 'there'), join(folder, 'link'))
  // A module loader follows links with a memory of the folders that it has seen.
  const follow = `
import { createRequire } from 'node:module'
const require = createRequire(${JSON.stringify(join(folder, 'from.js'))})
writeResult(require('./first.js') + require('./link/second.js'))`
  writeFileSync(join(folder, 'first.js'), 'module.exports = ""')
  writeFileSync(join(folder, 'there', 'second.js'), 'module.exports = __dirname')
  const child = start(program() + follow)
  let out = ''
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  expect(await exitCode(child)).toBe(0)
  expect(out.trimEnd().split('\n').at(-1)).toBe(join(folder, 'there'))
})
