import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it, vi } from 'vitest'
import type { Attack } from '../src/attack.ts'
import { attacks } from '../src/attacks/index.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

/** A short form of each; `pnpm torture` goes on for as long as one likes. */
const sizes: Record<keyof typeof attacks, number> = {
  kills: 4,
  'protocol-kills': 4,
  echoes: 8,
  upkeep: 6,
  migrations: 4,
  writers: 10,
  damage: 4,
  clock: 80,
  disk: 2,
  embedder: 60,
  hub: 3,
  http: 60,
  clients: 20,
  mcp: 100,
  'mcp-http': 40,
  hooks: 8,
  load: 3,
  sessions: 6,
  parsers: 8,
}

it.concurrent.for(Object.entries(attacks) as [keyof typeof attacks, Attack][])(
  '%s break nothing',
  async ([name, attack], { expect, onTestFinished }): Promise<void> => {
    const reason = attack.closed?.()
    if (reason) return void process.stderr.write(`${name} is skipped: ${reason}\n`)
    const folder = mkdtempSync(join(tmpdir(), 'recall-torture-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const { counts, violations } = await attack.round({ seed: 1, size: sizes[name], folder })
    expect(violations).toEqual([])
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0)
  },
)
