import { expect, it } from 'vitest'
import { createShell, poolSession, temporaryFolder, writeSession } from './support.ts'

const shellWith = (env: Record<string, string | undefined>) => {
  const root = temporaryFolder()
  return createShell(root, null, { RECALL_ROOT: root, ...env })
}

it('is said once to be of no use, and sessions are archived all the same', async () => {
  const shell = shellWith({ RECALL_LM_URL: 'http://127.0.0.1:1/v1', RECALL_LM_MODEL: 'm' })
  await shell.run('init')
  const sessions = ['one', 'two'].map((name) => writeSession(shell.root, name, poolSession))
  const { code, out, err } = await shell.run('archive', ...sessions)
  expect(code).toBe(0)
  expect(out.match(/summary by algorithm/g)).toHaveLength(2)
  expect(err).toMatch(/^recall: the language model is of no use: .*127\.0\.0\.1:1.*\n$/)
})

it.each([{ RECALL_LM_URL: 'http://127.0.0.1:1/v1' }, { RECALL_LM_MODEL: 'm' }])(
  'is not asked with %o alone, which is said',
  async (env) => {
    const shell = shellWith(env)
    await shell.run('init')
    expect((await shell.run('archive', writeSession(shell.root, 's', poolSession))).err).toBe(
      'recall: no model is asked: RECALL_LM_URL and RECALL_LM_MODEL are needed both\n',
    )
  },
)
