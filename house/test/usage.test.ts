import { afterAll, beforeAll, expect, it } from 'vitest'
import { openListeningHub, type TestHub } from './listening-hub.ts'
import { hasProgram, runProgram } from './run-program.ts'
import { read } from './workspace.ts'

const curl = hasProgram('curl', ['--version'], 'docs/usage.md')

let hub: TestHub
beforeAll(async () => {
  // With the limits that a reader meets.
  hub = await openListeningHub({ limits: {} })
})
afterAll(() => hub.close())

interface Block {
  command: string
  /** The answer that the page shows for it. */
  shown: unknown
}

function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  for (const [, language, text = ''] of page.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)) {
    if (language === 'sh') blocks.push({ command: text, shown: undefined })
    else (blocks.at(-1) as Block).shown = JSON.parse(text)
  }
  return blocks
}

/** The shape of a document: its members and their types, of a list that of its first element. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > 0 ? [shapeOf(value[0])] : []
  if (value === null || typeof value !== 'object') return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, member]) => [name, shapeOf(member)]),
  )
}

it.skipIf(!curl)('docs/usage.md works from top to bottom, and the hub answers as it shows', async () => {
  const blocks = blocksOf(read('docs/usage.md'))
  expect(blocks.length).toBeGreaterThan(8)
  const mark = '\u0001'
  const script = blocks.map(({ command }) => `${command}\nprintf '${mark}'\n`).join('')
  const { out, err, code } = await runProgram('bash', ['-euo', 'pipefail'], {
    cwd: hub.folder,
    input: script.replace('http://127.0.0.1:8787', hub.url),
  })
  expect([code, err]).toEqual([0, ''])
  const answers = out.split(mark)
  for (const [i, { command, shown }] of blocks.entries()) {
    const answer = answers[i] as string
    if (shown !== undefined) expect(shapeOf(JSON.parse(answer)), command).toEqual(shapeOf(shown))
    else if (answer !== '') expect(JSON.parse(answer), command).not.toHaveProperty('status')
  }
  expect(out).toContain('Deploys are frozen on Fridays.')
})
