import { readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { MemoryErrorCode } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { openDatabase, openDependencies } from '../src/open-dependencies.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

it('embeds what many agents ask once', async () => {
  let asked = 0
  const server = createServer((_, response) => {
    asked++
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 0, 0] }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const embedding = {
    provider: 'http',
    url: `http://127.0.0.1:${port}/v1`,
    model: 'three',
    dimensions: 3,
  } as const
  const { embedder, close } = await openDependencies(
    parseConfig({ embedding, dataFolder: temporaryFolder() }),
    () => {},
  )
  onTestFinished(async () => {
    await close()
    server.close()
  })
  for (let i = 0; i < 3; i++)
    expect(await embedder.embed(['how is the pool sized'], 'query')).toEqual([Float32Array.of(1, 0, 0)])
  expect(asked).toBe(1)
})

it.each(['elsewhere', 'of-others', '.'])(
  'opens no database in "%s" where there has to be one',
  async (path) => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, 'of-others'), '')
    const dataFolder = join(folder, path)
    const opening = openDatabase(parseConfig({ dataFolder }), { mustExist: true })
    await expect(opening).rejects.toMatchObject({
      code: MemoryErrorCode.NOT_FOUND,
      message: expect.stringContaining(`there is no database in ${dataFolder}: `),
    })
    expect(readdirSync(folder)).toEqual(['of-others'])
  },
)
