import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fakeEmbedder } from '@recall/embeddings'
import { expect, it } from 'vitest'
import { adviceOn } from '../src/memory/embedder.ts'
import { createShell, serveTinyModel, temporaryFolder } from './support.ts'

it('names the native runtime to whom the other one took long', () => {
  const running = (runtime: 'native' | 'wasm') => ({ ...fakeEmbedder(), runtime })
  expect(adviceOn(running('wasm'), 60_000)).toContain('onnxruntime-node')
  expect(adviceOn(running('wasm'), 500)).toBeUndefined()
  expect(adviceOn(running('native'), 60_000)).toBeUndefined()
  expect(adviceOn(fakeEmbedder(), 60_000)).toBeUndefined()
})

it('keeps the vectors of a model until another one answers, and says how to search without it', async () => {
  const root = temporaryFolder()
  const shellWith = (env: Record<string, string>) => createShell(root, null, { RECALL_ROOT: root, ...env })
  const tiny = await serveTinyModel()
  await shellWith(tiny).run('init')
  await shellWith(tiny).run('reindex', '--model')
  const away = { ...tiny, RECALL_EMBEDDING_URL: 'http://127.0.0.1:1/v1' }
  expect(
    await shellWith({ ...away, RECALL_EMBEDDING_MODEL: 'other' }).run('reindex', '--model'),
  ).toMatchObject({ code: 3, err: expect.stringContaining('no embedding server answers') })
  expect((await shellWith(tiny).run('doctor')).out).toContain('ok      embedding model: tiny')
  expect(await shellWith(away).run('search', 'facts', '--ranked')).toMatchObject({
    code: 3,
    err: expect.stringContaining('(--lexical searches by words alone)'),
  })
  expect((await shellWith(away).run('search', 'facts', '--ranked', '--lexical')).code).toBe(0)
})

it('may give its vectors in another length, which are then made anew', async () => {
  const root = temporaryFolder()
  const shellWith = (env: Record<string, string>) => createShell(root, null, { RECALL_ROOT: root, ...env })
  const shell = shellWith(await serveTinyModel())
  await shell.run('init')
  await shell.run('reindex', '--model')
  const longer = shellWith(await serveTinyModel(() => {}, [1, 0, 0, 0]))
  expect(await longer.run('search', 'facts', '--ranked')).toMatchObject({
    code: 3,
    err: expect.stringContaining("have 3 dimensions, not 4: run 'recall reindex --model'"),
  })
  expect((await longer.run('doctor')).out).toContain(
    'wrong   embedding model: tiny with 4 dimensions, but the vectors have 3',
  )
  expect(await longer.json('reindex', '--model')).toMatchObject({
    vectors: { model: 'tiny', embedded: 1, total: 1 },
  })
  expect((await longer.run('search', 'facts', '--ranked')).code).toBe(0)
})

it('embeds what its server takes, and says what it refuses, why, and where that stands', async () => {
  const root = temporaryFolder()
  const tiny = await serveTinyModel(() => {}, [1, 0, 0], 1200)
  const shell = createShell(root, null, { RECALL_ROOT: root, ...tiny })
  await shell.run('init')
  mkdirSync(join(root, 'memory/long-term'))
  for (const name of ['a', 'z']) writeFileSync(join(root, `memory/long-term/${name}.md`), `Note ${name}.\n`)
  writeFileSync(join(root, 'memory/long-term/p.md'), `${'長い記録'.repeat(350)}\n`)
  const { code, out, err } = await shell.run('reindex', '--model')
  expect(code).toBe(0)
  expect(out).toContain('a vector of tiny for 3 of 4 passages (')
  expect(err).toMatch(
    /^recall: the model refuses 1 passage, found by words alone; it is in memory\/long-term\/p\.md \(p\): the embedding server at \S+ answered 400 to a text/m,
  )
  expect((await shell.json('reindex', '--model')) as unknown).toMatchObject({
    vectors: { embedded: 3, total: 4, refused: { count: 1, path: 'memory/long-term/p.md', key: 'p' } },
  })
  expect((await shell.run('doctor')).out).toContain('one of tiny for 3 of 4 passages')
  expect((await shell.run('search', 'note', '--ranked')).code).toBe(0)
})

it('ends with what its server says where that refuses every text', async () => {
  const root = temporaryFolder()
  const sent: string[][] = []
  const tiny = await serveTinyModel((texts) => sent.push(texts), [1, 0, 0], 0)
  const shell = createShell(root, null, { RECALL_ROOT: root, ...tiny })
  await shell.run('init')
  const refused = await shell.run('reindex', '--model')
  expect(refused).toMatchObject({ code: 3, err: expect.stringMatching(/answered 400$/m) })
  expect(sent.length).toBeLessThan(10)
})

it.each(['localhost:11434/v1', 'https://ada:secret@models.example/v1'])(
  'is a finding of the doctor where the variable %s names none',
  async (url) => {
    const root = temporaryFolder()
    const tiny = await serveTinyModel()
    const shellWith = (env: Record<string, string>) => createShell(root, null, { RECALL_ROOT: root, ...env })
    await shellWith(tiny).run('init')
    await shellWith(tiny).run('reindex', '--model')
    const { code, out, err } = await shellWith({ ...tiny, RECALL_EMBEDDING_URL: url }).run('doctor')
    expect([code, err]).toEqual([1, ''])
    expect(out).toMatch(/embedding model: RECALL_EMBEDDING_URL: .*RECALL_EMBEDDING_KEY/)
  },
)

it('is compared by the doctor with the model of the vectors', async () => {
  const root = temporaryFolder()
  const shellWith = (env: Record<string, string>) => createShell(root, null, { RECALL_ROOT: root, ...env })
  const tiny = await serveTinyModel()
  const examined = async (env: Record<string, string>) => {
    const { code, out } = await shellWith(env).run('doctor')
    return { code, out: out.split('\n').filter((line) => /embedding model:|→/.test(line)) }
  }
  await shellWith({}).run('init')
  mkdirSync(join(root, 'memory/long-term'))
  writeFileSync(join(root, 'memory/long-term/pool.md'), '## Pool\n\nA try/finally.\n')
  expect(await examined(tiny)).toEqual({ code: 0, out: [] })

  const { out } = await shellWith(tiny).run('reindex', '--model')
  expect(out).toContain('a vector of tiny for 2 of 2 passages (')
  expect(await examined(tiny)).toEqual({ code: 0, out: ['ok      embedding model: tiny'] })
  expect(await examined({})).toEqual({
    code: 1,
    out: [
      'wrong   embedding model: bge-small-en-v1.5/q8, but the vectors are of tiny',
      "        → run 'recall reindex --model', or set the variables to the model of the vectors",
    ],
  })
  expect(await examined({ RECALL_EMBEDDING_URL: tiny.RECALL_EMBEDDING_URL })).toEqual({
    code: 1,
    out: [
      expect.stringContaining('RECALL_EMBEDDING_URL needs RECALL_EMBEDDING_MODEL'),
      '        → set these variables, or none of them',
    ],
  })
})
