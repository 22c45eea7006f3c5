import { expect, it } from 'vitest'
import { isDeepYaml } from './yaml-depth.ts'

it.each(['- ', '? ', ': ', '[', '{', '- &a ', '[\n', '{a: '])(
  '%j a hundred times is deep enough',
  (token) => {
    expect(isDeepYaml(`a: 1\n${token.repeat(100)}x`)).toBe(false)
    expect(isDeepYaml(`a: 1\n${token.repeat(101)}x`)).toBe(true)
  },
)

it('long lists and texts are not deep', () => {
  expect(isDeepYaml('- [a, b]\n- {c: d}\n'.repeat(1000))).toBe(false)
  expect(isDeepYaml(`tags: [${'"a-b: c?", '.repeat(1000)}]`)).toBe(false)
})

it('brackets that close nothing do not make up for those that are opened later', () => {
  expect(isDeepYaml(`${']'.repeat(100)}${'['.repeat(101)}`)).toBe(true)
})
