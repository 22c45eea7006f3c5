import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type HubSettings, parseConfig } from '../../apps/hub/src/config/config.ts'
import { serveHub } from '../../apps/hub/src/serve.ts'

const plenty = [{ requests: 1_000_000, seconds: 60 }]
const tier = { write: plenty, search: plenty, get: plenty }

/** Limits that no test meets by accident. */
const noLimits: HubSettings['limits'] = {
  tiers: { unverified: tier, trusted: tier, core: tier },
  register: plenty,
}

export interface TestHub {
  url: string
  /** An empty folder that goes with the hub. */
  folder: string
  close(): Promise<void>
}

/**
 * A hub that listens, on loopback unless the settings say otherwise, with an embedded database and the embedder that
 * knows words only.
 */
export async function openListeningHub(settings: HubSettings = {}): Promise<TestHub> {
  const folder = await mkdtemp(join(tmpdir(), 'recall-hub-'))
  const dataFolder = join(folder, 'data')
  const config = parseConfig({
    port: 0,
    dataFolder,
    embedding: { provider: 'fake' },
    limits: noLimits,
    ...settings,
  })
  const hub = await serveHub(config, () => {})
  return {
    url: hub.url,
    folder,
    async close() {
      await hub.close()
      await rm(folder, { recursive: true, force: true })
    },
  }
}
