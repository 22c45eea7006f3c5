import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { conversationKey, conversationType, isMemoryError, type MemoryManager } from '@recall/core'
import { openFileMemory } from '@recall/store-file'
import { seededRandom } from '../../../packages/store-file/test/support/random.ts'
import { archiveOf } from '../../../packages/store-file/test/support/storm-values.ts'
import type { Attack } from '../attack.ts'

const notes = 60

/** Files that were cut off or changed by something else. */
export const damage: Attack = {
  what: 'any file is torn or a bit of it flips: every other memory is there, and searches answer as without it',
  size: 20,
  async round({ seed, size, folder }) {
    const random = seededRandom(seed)
    const whole = join(folder, 'whole')
    mkdirSync(whole)
    await fill(whole)
    const violations: string[] = []
    let noticed = 0
    for (let i = 0; i < size; i++) {
      const root = join(folder, `damaged-${i}`)
      cpSync(whole, root, { recursive: true, preserveTimestamps: true })
      // Seals the copy, whose times and inodes differ from the original's.
      await (await openFileMemory({ root })).close()
      const files = filesBelow(root).filter((path) => statSync(join(root, path)).size > 0)
      const path = files[Math.floor(random() * files.length)] as string
      const what = `${damageFile(join(root, path), random)} ${path}`
      try {
        const memory = await openFileMemory({ root, onNotice: () => noticed++ })
        violations.push(...(await differences(memory, path)).map((difference) => `${what}: ${difference}`))
        await memory.close()
      } catch (error) {
        if (!isMemoryError(error)) violations.push(`${what}: ${(error as Error).stack}`)
      }
    }
    return { counts: { 'damaged files': size, notices: noticed }, violations }
  },
}

async function fill(root: string): Promise<void> {
  const memory = await openFileMemory({ root, redact: 'allow' })
  for (let i = 0; i < notes; i++) await memory.write('long-term', `note-${i}`, `harbour number${i}`)
  await memory.write('episodic', conversationKey('s'), archiveOf('s', 1), { type: conversationType })
  await memory.write('long-term', 'MEMORY.md#harbour', 'The harbour has a lighthouse.')
  await memory.search('long-term', { text: 'harbour' })
  await memory.read('long-term', 'note-1')
  await memory.close()
}

/** The differences in memories whose own file was left alone. */
async function differences(memory: MemoryManager, damaged: string): Promise<string[]> {
  const found: string[] = []
  for (let i = 0; i < notes; i++) {
    const key = `note-${i}`
    if (damaged.endsWith(`/${key}.md`)) continue
    const value = await memory.read('long-term', key)
    if (value !== `harbour number${i}`) found.push(`${key} reads ${JSON.stringify(value)?.slice(0, 80)}`)
    const matches = await memory.search('long-term', { text: `number${i}` })
    if (!matches.some((match) => match.key === key)) found.push(`${key} is not found`)
  }
  return found
}

function filesBelow(root: string): string[] {
  const all = readdirSync(root, { recursive: true, withFileTypes: true })
  return all
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort()
}

function damageFile(path: string, random: () => number): string {
  const bytes = readFileSync(path)
  const at = Math.floor(random() * bytes.length)
  if (random() < 0.3) {
    truncateSync(path, at)
    return `cut at ${at} in`
  }
  if (random() < 0.5) {
    bytes[at] = (bytes[at] as number) ^ (1 << Math.floor(random() * 8))
    writeFileSync(path, bytes)
    return `bit flipped at ${at} in`
  }
  for (let i = 0; i < 16; i++) bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
  writeFileSync(path, bytes)
  return 'bytes scattered over'
}
