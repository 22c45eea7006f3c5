import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ContentBlock, Conversation, Message } from '@recall/core'
import { onTestFinished } from 'vitest'
import { openTranscript } from '../src/index.ts'

const dataFolder =
  process.env.RECALL_TEST_DATA ?? fileURLToPath(new URL('../../../../shared/data', import.meta.url))

/** Real transcripts are test data that is never part of the project. */
export const transcriptsFolder = join(dataFolder, 'transcripts')

/** Whether there are real transcripts; if not, it says that tests on them are skipped. */
export function hasTranscripts(): boolean {
  if (existsSync(transcriptsFolder)) return true
  process.stderr.write(
    `Tests on real transcripts are skipped: none at ${transcriptsFolder}; set RECALL_TEST_DATA.\n`,
  )
  return false
}

export async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'recall-agents-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export async function temporaryFile(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(await temporaryFolder(), name)
  await writeFile(path, content)
  return path
}

export const jsonLines = (...values: unknown[]): string =>
  values.map((value) => `${JSON.stringify(value)}\n`).join('')

/** A text of less than 128 kB as a file that Zstandard has not made smaller. */
export function zstandard(text: string): Buffer {
  const block = Buffer.from(text)
  const frame = Buffer.from('28b52ffd0060000000', 'hex')
  // Of 24 bits: how long it is, that it stands as it is, and that it is the last one.
  frame.writeUIntLE(block.length * 8 + 1, 6, 3)
  return Buffer.concat([frame, block])
}

export async function messagesOf(conversation: Conversation): Promise<Message[]> {
  const messages: Message[] = []
  for await (const message of conversation.messages) messages.push(message)
  return messages
}

/** `role: text` for each message, other blocks by type, for short expectations. */
export function outline(messages: readonly Message[]): string[] {
  return messages.map(({ role, content }) => `${role}: ${content.map(describeBlock).join(' | ')}`)
}

function describeBlock(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'thinking':
      return `(thinks) ${block.text}`
    case 'tool_use':
      return `(uses ${block.name})`
    case 'tool_result':
      return `(result${block.isError ? ', failed' : ''}) ${block.content}`
  }
}

/** A transcript of this name and text, as it is read. */
export async function readTranscript(name: string, text: string) {
  const path = join(await temporaryFolder(), name)
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
  const conversation = await openTranscript(path)
  const messages = await messagesOf(conversation)
  return { conversation, messages, turns: outline(messages) }
}
