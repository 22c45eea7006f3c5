import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sessionSources } from '../src/index.ts'
import { jsonLines, readTranscript, temporaryFolder } from './support.ts'

it('reads a transcript of Cursor, which has no times', async () => {
  const line = (role: string, text: string) => ({ role, message: { content: [{ type: 'text', text }] } })
  const { conversation, turns } = await readTranscript(
    'u1.jsonl',
    jsonLines(line('user', 'paint it'), line('assistant', 'done')),
  )
  expect(conversation.sessionId).toBe('u1')
  expect(turns).toEqual(['user: paint it', 'assistant: done'])
})

it('knows where Cursor keeps transcripts: in the folders of projects that have some', async () => {
  const home = await temporaryFolder()
  expect(sessionSources({ home, env: {} })).toEqual([])
  for (const folder of ['p/agent-transcripts', 'q/terminals', 'r/agent-transcripts/s1'])
    mkdirSync(join(home, '.cursor/projects', folder), { recursive: true })
  const found = ['p', 'r'].map((project) => join(home, '.cursor/projects', project, 'agent-transcripts'))
  expect(sessionSources({ home, env: {} })).toEqual(found)
  expect(sessionSources({ home, env: { CURSOR_CONFIG_DIR: '/nowhere' } })).toEqual([])
})
