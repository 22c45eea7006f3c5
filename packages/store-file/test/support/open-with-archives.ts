import { join } from 'node:path'
import { conversationKey, conversationType, createMemoryManager } from '@recall/core'
import { openFileStore } from '../../src/open-file-memory.ts'
import { archiveOf } from './storm-values.ts'
import { temporaryRoot } from './temporary-root.ts'

/** A memory that holds so many archives of conversations. */
export async function openWithArchives(count: number) {
  const root = temporaryRoot()
  const notices: string[] = []
  const store = await openFileStore({ root, onNotice: (text) => notices.push(text) })
  const memory = createMemoryManager({ stores: store, redact: 'allow' })
  for (let i = 1; i <= count; i++) {
    await memory.write('episodic', conversationKey(`s${i}`), archiveOf(`s${i}`, i), {
      type: conversationType,
    })
  }
  return { root, store, memory, notices, at: (...names: string[]) => join(root, 'memory', ...names) }
}
