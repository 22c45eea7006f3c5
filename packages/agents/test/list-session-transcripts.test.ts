import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support.ts'
import { listClaudeCodeTranscripts } from './list-transcripts.ts'

async function project() {
  const root = await temporaryFolder()
  for (const path of [
    'p/b.jsonl',
    'p/a.jsonl',
    'p/a/subagents/agent-1.jsonl',
    'p/a/subagents/workflows/wf_1/agent-2.jsonl',
    'p/a/subagents/workflows/wf_1/journal.jsonl',
    'p/a/tool-results/big.jsonl',
    'p/memory/MEMORY.md',
    'history.jsonl',
  ]) {
    await mkdir(join(root, path, '..'), { recursive: true })
    await writeFile(join(root, path), '{}\n')
  }
  await symlink(join(root, 'p'), join(root, 'linked'))
  return {
    root,
    list: async (path: string) =>
      (await listClaudeCodeTranscripts(join(root, path))).map((found) => relative(root, found)),
  }
}

it('lists a session’s file with those of its helpers', async () => {
  const { list } = await project()
  expect(await list('p/a.jsonl')).toEqual([
    'p/a.jsonl',
    'p/a/subagents/agent-1.jsonl',
    'p/a/subagents/workflows/wf_1/agent-2.jsonl',
  ])
  expect(await list('p/b.jsonl')).toEqual(['p/b.jsonl'])
})

it('lists all sessions below a folder, helpers after their session, without other files and links', async () => {
  const { list } = await project()
  expect(await list('.')).toEqual([
    'p/a.jsonl',
    'p/a/subagents/agent-1.jsonl',
    'p/a/subagents/workflows/wf_1/agent-2.jsonl',
    'p/b.jsonl',
  ])
})

it('says that a missing path is missing', async () => {
  await expect(listClaudeCodeTranscripts('/nowhere')).rejects.toMatchObject({ code: 'MEMORY_NOT_FOUND' })
})
