import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createShell } from './support.ts'

it('ten sessions that each are told of the one before do not make the archive grow by echo', async () => {
  const shell = createShell()
  await shell.run('init')
  const sizes: number[] = []
  for (let i = 0; i < 10; i++) {
    const id = `00000000-0000-4000-8000-00000000000${i}`
    const transcript = join(shell.root, `${id}.jsonl`)
    const event = { session_id: id, transcript_path: transcript, cwd: shell.root }
    const started = await shell
      .withInput(JSON.stringify({ ...event, hook_event_name: 'SessionStart', source: 'startup' }))
      .run('hook', 'session-start')
    const told =
      started.out === '' ? '' : (JSON.parse(started.out).hookSpecificOutput.additionalContext as string)
    if (i > 0) expect(told).toContain('marmot')
    const line = (type: string, n: number, content: unknown) =>
      JSON.stringify({
        type,
        uuid: `${i}-${n}`,
        sessionId: id,
        timestamp: `2026-03-06T1${i}:0${n}:00Z`,
        message: { role: type, content },
      })
    // Every way in which a host was seen to write into the transcript what it was told.
    writeFileSync(
      transcript,
      [
        JSON.stringify({
          type: 'attachment',
          uuid: `${i}-a`,
          sessionId: id,
          attachment: { type: 'hook_additional_context', content: [told] },
        }),
        line('user', 1, `<system-reminder>SessionStart hook additional context: ${told}</system-reminder>`),
        line('user', 2, `${told}\nFeed the marmot, please.`),
        line('assistant', 3, [
          { type: 'tool_use', id: 't', name: 'mcp__recall__session_context', input: {} },
        ]),
        line('user', 4, [
          {
            type: 'tool_result',
            tool_use_id: 't',
            content: JSON.stringify({ sessions: [{ summary: told }] }),
          },
        ]),
        line('assistant', 5, [{ type: 'text', text: 'The marmot was fed and is asleep.' }]),
        '',
      ].join('\n'),
    )
    await shell
      .withInput(JSON.stringify({ ...event, hook_event_name: 'SessionEnd', reason: 'other' }))
      .run('hook', 'session-end')
    await shell.run('hook', 'drain')
    const folder = join(shell.root, 'memory/conversations')
    const latest = readdirSync(folder).sort().at(-1) as string
    sizes.push(statSync(join(folder, latest)).size)
    expect(readFileSync(join(folder, latest), 'utf8')).not.toMatch(/recalled-memory|The last sessions/)
  }
  expect(sizes).toHaveLength(10)
  expect(new Set(sizes).size, sizes.join(', ')).toBeLessThanOrEqual(2)
  expect(Math.max(...sizes) - Math.min(...sizes)).toBeLessThan(20)
})
