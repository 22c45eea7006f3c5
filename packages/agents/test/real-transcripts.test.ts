import { readFileSync } from 'node:fs'
import { relative } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { listImportable, openTranscript, readClaudeCodeTranscript } from '../src/index.ts'
import { hasTranscripts, messagesOf, temporaryFile, transcriptsFolder } from './support.ts'

type Block = { type?: string; text?: string }
type Line = {
  type?: string
  isMeta?: boolean
  isCompactSummary?: boolean
  operation?: string
  content?: string
  isApiErrorMessage?: boolean
  message?: { content?: string | (Block | string)[] }
}

/** Written apart from the reader on purpose: every text of a person and of the assistant in a file. */
function extractTexts(path: string): { user: string[]; assistant: string[] } {
  const texts = { user: [] as string[], assistant: [] as string[] }
  for (const raw of readFileSync(path, 'utf8').split('\n')) {
    let line: Line
    try {
      line = JSON.parse(raw)
    } catch {
      continue
    }
    if (line?.type === 'queue-operation' && line.operation === 'enqueue') texts.user.push(line.content ?? '')
    if (line?.type !== 'user' && line?.type !== 'assistant') continue
    if (line.isMeta || line.isCompactSummary || line.isApiErrorMessage) continue
    const content = line.message?.content ?? []
    const blocks = typeof content === 'string' ? [{ type: 'text', text: content }] : content
    for (const block of blocks) {
      if (typeof block !== 'string' && block.type === 'text') texts[line.type].push(block.text ?? '')
    }
  }
  const spoken = (text: string) =>
    text.trim() !== '' &&
    !/^(<(task-notification|local-command|command-)|\[Request interrupted by user)/.test(text) &&
    !(path.includes('agent-acompact-') && /^Your task is to create a detailed summary/.test(text))
  return { user: texts.user.filter(spoken), assistant: texts.assistant.filter((text) => text.trim() !== '') }
}

const isThere = hasTranscripts()

describe.runIf(isThere)('real transcripts', async () => {
  const files = isThere ? await listImportable(transcriptsFolder) : []

  it.each(files.map((path) => relative(transcriptsFolder, path)))(
    'keeps every text of %s, by speaker',
    async (name) => {
      const path = `${transcriptsFolder}/${name}`
      const conversation = await openTranscript(path)
      const messages = await messagesOf(conversation)
      const read = { user: new Set<string>(), assistant: new Set<string>() }
      for (const { role, content } of messages) {
        for (const block of content) if (block.type === 'text') read[role].add(block.text)
      }

      const expected = extractTexts(path)
      expect(expected.user.filter((text) => !read.user.has(text))).toEqual([])
      expect(expected.assistant.filter((text) => !read.assistant.has(text))).toEqual([])
      expect(new Set(messages.map(({ id }) => id)).size).toBe(messages.length)
      expect(messages.length).toBeGreaterThan(0)
    },
  )

  it('reads the sessions’ ids, helpers and damage as they are', async () => {
    const known = new Map<string, unknown>()
    for (const path of files) {
      const conversation = await openTranscript(path)
      await messagesOf(conversation)
      known.set(relative(transcriptsFolder, path), [
        conversation.sessionId,
        conversation.parent,
        conversation.facts.skipped,
      ])
    }
    const session = '258c7280-ae70-4798-800f-63464d01a85d'
    expect(known.get(`${session}.jsonl`)).toEqual([session, undefined, {}])
    expect(known.get(`${session}/subagents/agent-a881341.jsonl`)).toEqual([`${session}/a881341`, session, {}])
    expect(known.get('edge/edge_cases.jsonl')).toEqual([
      'edge_cases',
      undefined,
      { 'line that is not a message': 6 },
    ])
  })

  it('yields a prefix, and never fails, wherever the file is cut', async () => {
    const whole = readFileSync(`${transcriptsFolder}/tool_heavy.jsonl`)
    const all = await messagesOf(await readClaudeCodeTranscript(`${transcriptsFolder}/tool_heavy.jsonl`))
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 0, max: whole.length }), async (length) => {
        const path = await temporaryFile('cut.jsonl', whole.subarray(0, length))
        const cut = await messagesOf(await readClaudeCodeTranscript(path))
        expect(cut).toEqual(all.slice(0, cut.length))
      }),
      { numRuns: 60 },
    )
  })
})
