import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createShell, temporaryFolder } from './support.ts'

describe('sessions that their files alone name', () => {
  it('keeps sessions apart whose messages have no ids, though their files are alike', async () => {
    const shell = createShell()
    const [one, other] = [temporaryFolder(), temporaryFolder()]
    const session = (folder: string, animal: string, turns: number): string => {
      const lines = Array.from({ length: turns }, (_, i) => ({
        role: i % 2 ? 'assistant' : 'user',
        content: `${animal} ${i}`,
      }))
      writeFileSync(join(folder, 'run.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return join(folder, 'run.jsonl')
    }
    await shell.run('archive', session(one, 'walrus', 4))
    await shell.run('archive', session(other, 'narwhal', 6))
    for (const animal of ['walrus', 'narwhal']) expect((await shell.run('search', animal)).code).toBe(0)
    expect(await shell.json('archive', session(other, 'narwhal', 8))).toMatchObject({
      archived: [
        {
          status: 'updated',
          kept: [],
          parts: [{ key: expect.stringMatching(/^conversation:run-[0-9a-f]{6}$/) }],
        },
      ],
    })
    expect(await shell.json('archive', session(one, 'walrus', 6))).toMatchObject({
      archived: [{ status: 'updated', parts: [{ key: 'conversation:run' }] }],
    })

    await shell.run('forget', 'conversation:run', '--yes')
    expect((await shell.run('search', 'narwhal')).code).toBe(0)
    expect((await shell.run('archive', join(one, 'run.jsonl'))).err).toContain('was forgotten')
    expect(await shell.json('archive', session(temporaryFolder(), 'lynx', 2))).toMatchObject({
      archived: [{ status: 'archived' }],
    })
  })

  it('knows a session again that was archived when only the file had its name', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const session = (turns: number): string => {
      const lines = Array.from({ length: turns }, (_, i) => ({
        role: i % 2 ? 'assistant' : 'user',
        content: `${i}`,
      }))
      writeFileSync(join(folder, 'run.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
      return join(folder, 'run.jsonl')
    }
    await shell.run('archive', session(2))
    rmSync(join(shell.root, 'memory/.recall/imports.json'))
    expect(await shell.json('archive', session(2))).toMatchObject({ archived: [{ status: 'unchanged' }] })
    rmSync(join(shell.root, 'memory/.recall/imports.json'))
    expect(await shell.json('import', session(4))).toMatchObject({ updated: 1 })
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toHaveLength(1)
  })

  it('makes no hash of a secret, and knows a session again of which less was one before', async () => {
    const shell = createShell()
    const folder = temporaryFolder()
    const journal = join(shell.root, 'memory/.recall/imports.json')
    const archive = join(shell.root, 'memory/conversations/conversation-001.md')
    const session = (letter: string, turns: number): string => {
      const token = `${'ghp_'}${letter.repeat(36)}`
      const said = [`Use ${token} here`, 'Used.', 'And there', 'Done.'].slice(0, turns)
      const lines = said.map((content, i) => JSON.stringify({ role: i % 2 ? 'assistant' : 'user', content }))
      writeFileSync(join(folder, 'run.jsonl'), `${lines.join('\n')}\n`)
      return join(folder, 'run.jsonl')
    }
    await shell.run('archive', session('a', 2))
    const [told, known] = [readFileSync(archive, 'utf8'), readFileSync(journal, 'utf8')]
    await shell.run('archive', session('b', 2))
    expect([readFileSync(archive, 'utf8'), readFileSync(journal, 'utf8')]).toEqual([told, known])

    const asBefore = (): void => {
      const text = readFileSync(archive, 'utf8')
      writeFileSync(archive, text.replace(/^last_message: .*$/m, `last_message: "said-${'0'.repeat(24)}"`))
      writeFileSync(journal, readFileSync(journal, 'utf8').replace(/:"[0-9a-f]+"/g, `:"${'0'.repeat(64)}"`))
    }
    asBefore()
    expect(await shell.json('archive', session('a', 2))).toMatchObject({
      archived: [{ status: 'updated', kept: [], parts: [{ key: 'conversation:run' }] }],
    })
    expect([readFileSync(archive, 'utf8'), readFileSync(journal, 'utf8')]).toEqual([told, known])
    asBefore()
    expect(await shell.json('archive', session('a', 4))).toMatchObject({
      archived: [{ status: 'updated', kept: [], parts: [{ key: 'conversation:run' }] }],
    })
    expect(readdirSync(join(shell.root, 'memory/conversations'))).toHaveLength(1)
    expect(readFileSync(journal, 'utf8')).toBe(known)
  })

  describe.each([
    ['Cursor', (role: string, text: string) => ({ role, message: { content: [{ type: 'text', text }] } })],
    [
      'Codex',
      (role: string, text: string) => ({
        type: 'response_item',
        payload: { type: 'message', role, content: [{ type: 'text', text }] },
      }),
    ],
  ])('of %s', (_, line) => {
    const path = () => join(temporaryFolder(), 'run.jsonl')
    const say = (file: string, ...texts: string[]): string => {
      const lines = texts.map((text, i) => line(i % 2 ? 'assistant' : 'user', text))
      writeFileSync(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
      return file
    }
    it('keeps the turns that a rewritten transcript no longer has', async () => {
      const shell = createShell()
      const file = path()
      await shell.run('archive', say(file, 'feed the walrus', 'fed'))
      await shell.run('archive', say(file, 'feed the narwhal', 'fed', 'and again', 'fed twice'))
      for (const animal of ['walrus', 'narwhal']) expect((await shell.run('search', animal)).code).toBe(0)
    })
  })

  describe('of lines without ids, in a transcript that was rewritten', () => {
    const sessionId = '00000000-0000-4000-8000-000000000001'
    const path = () => join(temporaryFolder(), `${sessionId}.jsonl`)
    const key = `conversation:${sessionId}`
    const say = (file: string, before: number, ...texts: string[]): string => {
      const passed = Array.from({ length: before }, () => ({ type: 'progress', sessionId }))
      const said = texts.map((content, i) => {
        const role = i % 2 ? 'assistant' : 'user'
        return { type: role, sessionId, message: { role, content }, timestamp: '2026-01-01T00:00:00.000Z' }
      })
      writeFileSync(file, [...passed, ...said].map((each) => `${JSON.stringify(each)}\n`).join(''))
      return file
    }

    it('knows its messages again where the host has added lines of its own', async () => {
      const shell = createShell()
      const file = path()
      await shell.run('archive', say(file, 0, 'feed the walrus', 'fed'))
      expect(await shell.json('archive', say(file, 1, 'feed the walrus', 'fed'))).toMatchObject({
        archived: [{ status: 'unchanged' }],
      })
      const longer = say(file, 2, 'feed the walrus', 'fed', 'again', 'done')
      expect(await shell.json('archive', longer)).toMatchObject({
        archived: [{ status: 'updated', kept: [], parts: [{ key }] }],
      })
      expect(readdirSync(join(shell.root, 'memory/conversations'))).toHaveLength(1)
    })

    it('keeps such an archive of which the transcript has other turns now', async () => {
      const shell = createShell()
      const file = path()
      await shell.run('archive', say(file, 0, 'feed the walrus', 'fed'))
      expect(
        await shell.json('archive', say(file, 0, 'feed the narwhal', 'fed', 'again', 'done')),
      ).toMatchObject({ archived: [{ kept: [key], parts: [{ key: `${key}#2` }] }] })
      expect((await shell.run('search', 'walrus')).code).toBe(0)
    })
  })
})
