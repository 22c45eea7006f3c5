import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { checkUp } from '../src/doctor.ts'
import { defaultFileSystem } from '../src/files/file-system.ts'
import { openFileMemory, openFileStore } from '../src/open-file-memory.ts'
import { keysOf, open } from './memory-in-files.ts'

// The machine may be busy with other tests.
vi.setConfig({ testTimeout: 300_000 })

describe('a key that two files claim', () => {
  it('is that of the note which is read by it, once the index is made anew, and then of the other one', async () => {
    const { memory, root, at } = await open()
    await memory.write('long-term', 'A', 'the harbour')
    const [written = ''] = readdirSync(at('long-term'))
    writeFileSync(at('long-term/A.md'), 'the lighthouse\n')
    await memory.close()
    rmSync(at('.recall'), { recursive: true })

    const again = await openFileMemory({ root })
    expect(await again.read('long-term', 'A')).toBe('the harbour')
    expect(await keysOf(again, 'harbour')).toEqual(['A'])
    expect(await keysOf(again, 'lighthouse')).not.toContain('A')
    const store = await openFileStore({ root })
    const findings = checkUp(defaultFileSystem, store, { deep: false, fix: false })
    expect(findings.find(({ ok }) => !ok)?.message).toBe(
      "memory/long-term/A.md is not read by its key 'A', which another file has",
    )
    await store.close()
    rmSync(at('long-term', written))
    expect(await keysOf(again, 'lighthouse')).toEqual(['A'])
    expect(await again.read('long-term', 'A')).toContain('the lighthouse')
    await again.close()
  })

  it('is that of the section, and of the note when the section gets another heading', async () => {
    const { memory, at } = await open()
    await memory.write('long-term', 'MEMORY.md#people', 'the harbour', { ttl: 1_000_000 })
    await keysOf(memory, 'harbour')
    mkdirSync(dirname(at('MEMORY.md')), { recursive: true })
    writeFileSync(at('MEMORY.md'), '## People\n\nthe lighthouse\n')
    expect(await keysOf(memory, 'lighthouse')).toEqual(['MEMORY.md#people'])
    expect(await keysOf(memory, 'harbour')).not.toContain('MEMORY.md#people')
    expect(await memory.read('long-term', 'MEMORY.md#people')).toContain('the lighthouse')

    writeFileSync(at('MEMORY.md'), readFileSync(at('MEMORY.md'), 'utf8').replace('People', 'Places'))
    expect(await keysOf(memory, 'lighthouse')).toEqual(['MEMORY.md#places'])
    expect(await keysOf(memory, 'harbour')).toEqual(['MEMORY.md#people'])
    expect(await memory.read('long-term', 'MEMORY.md#people')).toBe('the harbour')
    await memory.close()
  })
})
