import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, it, onTestFinished } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { openDependencies } from '../src/open-dependencies.ts'
import { temporaryFolder } from './temporary-folder.ts'

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
