import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { openTranscript } from '@recall/agents'
import { redactText } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { listTranscripts } from '../src/archiving/list-transcripts.ts'
import { createShell, hasTranscripts, transcriptsFolder } from './support.ts'

/** What people and agents said in a transcript, read independently of any archive. */
async function spokenTexts(path: string): Promise<{ user: string[]; assistant: string[] }> {
  const spoken = { user: [] as string[], assistant: [] as string[] }
  for await (const { role, content } of (await openTranscript(path)).messages) {
    for (const block of content) if (block.type === 'text') spoken[role].push(redactText(block.text).text)
  }
  return spoken
}

describe.runIf(hasTranscripts())('real transcripts', () => {
  it('archive without loss, twice without change, and every turn is found again', async () => {
    const shell = createShell()
    await shell.run('init')
    const { archived } = await shell.json<{ archived: { path: string; parts: { key: string }[] }[] }>(
      'archive',
      transcriptsFolder,
    )
    const folder = join(shell.root, 'memory/conversations')
    const bodies = new Map<string, string>()
    for (const name of readdirSync(folder)) {
      const text = readFileSync(join(folder, name), 'utf8')
      bodies.set(/^session_id: "(.+)"$/m.exec(text)?.[1] ?? '', text)
    }
    const counts: Record<string, string> = {}
    for (const { path, parts } of archived) {
      const body = bodies.get(parts[0]?.key.replace('conversation:', '') ?? '') ?? ''
      const { user, assistant } = await spokenTexts(path)
      counts[basename(path)] = `${user.length} human, ${assistant.length} assistant`
      for (const text of [...user, ...assistant]) expect(body).toContain(text.trim())
    }
    process.stdout.write(`archived without loss: ${JSON.stringify(counts, null, 2)}\n`)
    expect(archived).toHaveLength(
      (await listTranscripts({ cwd: '/' } as never, [transcriptsFolder])).transcripts.length,
    )

    const before = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))
    const again = await shell.json<{ archived: { status: string }[] }>('archive', transcriptsFolder)
    expect(new Set(again.archived.map(({ status }) => status))).toEqual(new Set(['unchanged']))
    expect(readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'))).toEqual(before)

    const sample = (await spokenTexts(join(transcriptsFolder, 'tool_heavy.jsonl'))).assistant.filter(
      (text) => text.length > 40,
    )
    for (const text of sample.slice(0, 10)) {
      const words = text.split(/\s+/).slice(0, 12).join(' ')
      const { results } = await shell.json<{ results: { snippet: string; path: string }[] }>(
        'search',
        '--ranked',
        words,
      )
      const found = results.some(({ path }) =>
        readFileSync(join(shell.root, path), 'utf8').includes(text.trim()),
      )
      expect(found, words).toBe(true)
    }
    expect(await shell.json('doctor', '--deep')).toMatchObject({ healthy: true })
  })
})
