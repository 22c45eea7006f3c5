import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, createMemoryManager } from '@recall/core'
import { checkUp, defaultFileSystem, openFileStore } from '@recall/store-file'
import { bundleScript, startChild } from '../../../packages/store-file/test/support/child-process.ts'
import { openSealed } from '../../../packages/store-file/test/support/storm-values.ts'
import type { Attack } from '../attack.ts'

const processes = 16

/** A process that writes `size` times to notes, shared files and archives; see the file store's tests. */
export const writers: Attack = {
  what: `${processes} processes write to the same files: nothing is lost, torn or numbered twice`,
  size: 100,
  async round({ size, folder }) {
    const root = join(folder, 'root')
    mkdirSync(root)
    const script = await bundleScript('writer-child.ts')
    const names = Array.from({ length: processes }, (_, i) => `w${i + 1}`)
    const children = names.map((name) => startChild(script, [root, name, String(size)]))
    const codes = await Promise.all(children.map(({ ended }) => ended))
    const violations = codes.flatMap((code, i) => (code === 0 ? [] : `${names[i]} ended with ${code}`))

    const store = await openFileStore({ root })
    const memory = createMemoryManager({ stores: store })
    for (const name of names) {
      for (let n = 1; n <= size; n++) {
        const sealed = await read(`${name}-${n}`, n).catch((error: Error) => error.message)
        if (sealed !== n) violations.push(`${name}-${n}: ${sealed}`)
      }
    }
    const findings = checkUp(defaultFileSystem, store, { deep: true, fix: false })
    violations.push(
      ...findings.flatMap(({ ok, check, message }) => (ok ? [] : `doctor, ${check}: ${message}`)),
    )
    await memory.close()
    return { counts: { 'acknowledged writes': processes * size }, violations }

    /** The number in a writer's n-th write: each kind of entry has its own turns. */
    async function read(id: string, n: number): Promise<number> {
      if (n % 20 === 0) {
        const archive = await memory.read<{ body: string }>('episodic', conversationKey(id))
        return openSealed(archive?.body.replace('## Summary\n\n', '').trimEnd())
      }
      if (n % 20 === 5) {
        const session = await memory.read<{ summary: string }>('short-term', `session:${id}`)
        return openSealed(session?.summary)
      }
      return openSealed(await memory.read('long-term', n % 10 === 3 ? `MEMORY.md#part-${id}` : `note ${id}`))
    }
  },
}
