import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
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
  expect(err).toMatch(/^recall: the language model cannot be used: .*127\.0\.0\.1:1.*\n$/)
})

/** A model that always answers the same. */
async function modelThatSays(content: string): Promise<string> {
  const server = createServer((_, response) => {
    response.setHeader('Content-Type', 'application/json')
    response.end(JSON.stringify({ choices: [{ message: { content } }] }))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`
}

it.each(['I would rather talk.', '{"title": "Pools"}'])(
  'is said once to be of no use when it answers %s',
  async (content) => {
    const url = await modelThatSays(content)
    const shell = shellWith({ RECALL_LM_URL: url, RECALL_LM_MODEL: 'm' })
    const sessions = ['one', 'two'].map((name) => writeSession(shell.root, name, poolSession))
    await shell.run('init')
    expect(await shell.run('archive', ...sessions)).toMatchObject({
      code: 0,
      err: 'recall: the language model cannot be used: m does not answer with the JSON that it was asked for\n',
    })
  },
)

it('is not said to be of no use where its summary is used, or where it is not asked', async () => {
  const answer = { summary: 'The pool leaked.', topics: [], decisions: [], action_items: [] }
  const env = { RECALL_LM_URL: await modelThatSays(JSON.stringify(answer)), RECALL_LM_MODEL: 'm' }
  const without = shellWith({})
  await without.run('init')
  const old = writeSession(without.root, 'old', poolSession)
  await without.run('archive', old)
  const shell = createShell(without.root, null, { RECALL_ROOT: without.root, ...env })
  const { out, err } = await shell.run('archive', writeSession(without.root, 'new', poolSession), old)
  expect(err).toBe('')
  expect(out).toContain('summary by m')
})

it('is not asked with a key that cannot be sent, which is not told', async () => {
  const shell = shellWith({
    RECALL_LM_URL: 'http://127.0.0.1:1/v1',
    RECALL_LM_MODEL: 'm',
    RECALL_LM_KEY: 'quokka\nkey',
  })
  await shell.run('init')
  expect(await shell.run('archive', writeSession(shell.root, 's', poolSession))).toMatchObject({
    code: 0,
    err: 'recall: no model is asked: RECALL_LM_KEY may hold only printable characters\n',
  })
})

it.each([{ RECALL_LM_URL: 'http://127.0.0.1:1/v1' }, { RECALL_LM_MODEL: 'm' }])(
  'is not asked with %o alone, which is said',
  async (env) => {
    const shell = shellWith(env)
    await shell.run('init')
    expect((await shell.run('archive', writeSession(shell.root, 's', poolSession))).err).toBe(
      'recall: no model is asked: RECALL_LM_URL and RECALL_LM_MODEL are both needed\n',
    )
  },
)
