import type { JsonValue } from '@recall/core'
import { expect, it } from 'vitest'
import { toToolBlock } from './tool-blocks.ts'

const inputOf = (input: JsonValue): unknown =>
  toToolBlock({ type: 'tool_use', id: '1', name: 'shell', input }, new Set())

it.each([
  [['bash', '-lc', 'npm test'], 'npm test'],
  [['/bin/sh', '-c', 'npm test'], 'npm test'],
  [['C:\\git\\bash', '-c', 'npm test'], 'npm test'],
  [['zsh', '-c', 'npm test'], 'npm test'],
  [['dash', '-c', 'npm test'], 'npm test'],
  [['bash', '-c', 'echo $0', 'a'], 'bash -c echo $0 a'],
  [['bash', '-l', 'script'], 'bash -l script'],
  [['push', '-c', 'x'], 'push -c x'],
  [['sh.exe', '-c', 'x'], 'sh.exe -c x'],
  [['bash', '-c'], 'bash -c'],
])('tells of %j that it ran %s', (command, ran) => {
  expect(inputOf({ command })).toMatchObject({ input: { command: ran } })
})

it('tells which files a patch changes, wherever the patch stands', () => {
  const patch =
    '\n*** Begin Patch\n*** Update File: a.ts \n*** Move to: b.ts\n*** Delete File: c.ts\n*** End Patch'
  const changed = { input: { path: 'a.ts', paths: ['a.ts', 'b.ts', 'c.ts'] } }
  expect(inputOf(patch)).toMatchObject(changed)
  expect(inputOf({ input: patch })).toMatchObject(changed)
  expect(inputOf(`See ${patch}`)).toMatchObject({ input: `See ${patch}` })
})

it.each([
  [{ output: 'b.ts', metadata: { exit_code: 0 } }, 'b.ts', undefined],
  [{ output: 'no rule', metadata: { exit_code: 2 } }, 'no rule', true],
  [{ output: 'of the tool itself' }, undefined, undefined],
  [{ output: 7, metadata: { exit_code: 2 } }, undefined, undefined],
])('reads the output that was logged as %j', (logged, content = JSON.stringify(logged), isError) => {
  const result = { type: 'tool_result', toolUseId: '1', content: JSON.stringify(logged) } as const
  const block = toToolBlock(result, new Set())
  expect(block).toEqual({ ...result, content, ...(isError ? { isError } : {}) })
})
