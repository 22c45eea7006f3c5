import {
  type ContentBlock,
  type ConversationArchive,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type Message,
} from '@recall/core'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import {
  clock,
  conversation,
  fakeLm,
  lmAnswer,
  minute,
  openMemory,
  readArchive,
  start,
  talk,
  text,
} from '../../test/support.ts'
import { archiveSession, createCheckpoint } from './archive-session.ts'
import { readWindow } from './window.ts'

describe('archiving again', () => {
  it('changes nothing when nothing new was said', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk))
    const before = await memory.read('episodic', 'conversation:s', { includeMetadata: true })
    const lm = fakeLm(lmAnswer('other'))
    const outcome = await archiveSession(memory, conversation('s', talk), { lm })
    expect(outcome).toMatchObject({ status: 'unchanged', window: 'present' })
    expect(lm.prompts).toEqual([])
    const after = await memory.read('episodic', 'conversation:s', { includeMetadata: true })
    expect(after?.value).toEqual(before?.value)
    expect(after?.metadata.updatedAt).toBe(before?.metadata.updatedAt)
  })

  it('recognises sessions and messages by any kind of id', async () => {
    const ids = [
      '258c7280-ae70-4798-800f-63464d01a85d',
      'toolu_01MP7XLcGvsgTN7E5MLGdM5X',
      'line-12',
      'msg#said',
      'a/b',
    ]
    for (const id of ids) {
      const memory = openMemory()
      const talk = () => conversation(id, [{ id, content: [text('hello')] }])
      await archiveSession(memory, talk())
      expect(await archiveSession(memory, talk())).toMatchObject({ status: 'unchanged', window: 'present' })
    }
  })

  it('replaces the earlier version of a session that grew', async () => {
    const memory = openMemory()
    await createCheckpoint(memory, conversation('s', talk.slice(0, 2)))
    expect(await archiveSession(memory, conversation('s', talk))).toMatchObject({
      status: 'updated',
      parts: [{ key: 'conversation:s', status: 'replaced' }],
    })
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 3, source: 'session' })
    expect(await memory.search('episodic', {})).toHaveLength(1)
  })

  it('turns a checkpoint into a session when it ends without a further word, and not back', async () => {
    const memory = openMemory()
    await createCheckpoint(memory, conversation('s', talk))
    expect(await readWindow(memory)).toEqual([])
    expect(await archiveSession(memory, conversation('s', talk))).toMatchObject({
      status: 'updated',
      window: 'added',
    })
    expect(await createCheckpoint(memory, conversation('s', talk))).toMatchObject({
      status: 'unchanged',
      window: 'skipped',
    })
    expect(await readArchive(memory, 's')).toMatchObject({ source: 'session' })
  })

  describe('whose messages are named by what they say, and now otherwise, as it holds a secret', () => {
    const output: ContentBlock = { type: 'tool_result', toolUseId: '1', content: 'three tests failed' }
    const said = [
      [text(`Use ${'ghp_'}${'a1B2'.repeat(9)} for it`)],
      [output],
      [text('They fail.')],
      [text('Mend them.')],
    ]
    const named = (by: string, count: number) =>
      conversation(
        's',
        said.slice(0, count).map((content, i) => ({
          id: `said-${by}${i}`,
          role: i % 2 ? ('assistant' as const) : ('user' as const),
          content,
        })),
      )

    it('gives the archive the new name, and then changes nothing', async () => {
      const memory = openMemory()
      await archiveSession(memory, named('old', 3))
      const { lastMessage, ...before } = await readArchive(memory, 's')
      expect(lastMessage).toBe('said-old2')
      for (const status of ['updated', 'unchanged'] as const)
        expect(await archiveSession(memory, named('new', 3))).toMatchObject({ status, kept: [] })
      expect(await readArchive(memory, 's')).toEqual({ ...before, lastMessage: 'said-new2' })
      expect(await memory.search('episodic', {})).toHaveLength(1)
    })

    it('replaces the earlier version', async () => {
      const memory = openMemory()
      await archiveSession(memory, named('old', 3))
      expect(await archiveSession(memory, named('new', 4))).toMatchObject({ status: 'updated', kept: [] })
      expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 4, lastMessage: 'said-new3' })
      expect(await memory.search('episodic', {})).toHaveLength(1)
    })

    it('leaves an archive that a person edited as it is', async () => {
      const memory = openMemory()
      await archiveSession(memory, named('old', 3))
      const archive = await readArchive(memory, 's')
      const body = archive.body.replace('## Summary\n\n', '$&By hand. ')
      await memory.write(
        'episodic',
        'conversation:s',
        { ...archive, body, edited: true },
        { type: 'conversation' },
      )
      expect(await archiveSession(memory, named('new', 3))).toMatchObject({ status: 'unchanged', kept: [] })
      expect((await readArchive(memory, 's')).body).toBe(body)
    })

    it.each([
      ['an output', 1],
      ['a turn', 2],
    ])('keeps an archive with %s that the conversation no longer has', async (_, left) => {
      const memory = openMemory()
      await archiveSession(memory, named('old', 3))
      const { sessionId, facts, messages } = named('new', 4)
      const rest = [...(messages as Message[])].filter((_, i) => i !== left)
      expect(await archiveSession(memory, { sessionId, facts, messages: rest })).toMatchObject({
        kept: ['conversation:s'],
      })
    })
  })

  it('replaces it as well when a message before its last one is known only now', async () => {
    const memory = openMemory()
    const said = ['one', 'two', 'three'].map((word) => ({
      id: word,
      role: 'user' as const,
      content: [text(word)],
    }))
    await archiveSession(memory, conversation('s', said.slice(1)))
    expect(await archiveSession(memory, conversation('s', said))).toMatchObject({
      status: 'updated',
      kept: [],
    })
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 3 })
  })

  it('turns a session into a checkpoint again when it goes on', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk.slice(0, 2)))
    await createCheckpoint(memory, conversation('s', talk))
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 3, source: 'checkpoint' })
  })

  it('never overwrites messages that the conversation no longer has', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', ['one', 'two', 'three', 'four']))
    const whole = await readArchive(memory, 's')
    const rewound = conversation('s', ['one', 'two', { id: 'new', content: [text('another way')] }])
    const outcome = await archiveSession(memory, rewound)
    expect(outcome).toMatchObject({
      status: 'archived',
      kept: ['conversation:s'],
      parts: [{ key: 'conversation:s#2', status: 'created' }],
    })
    expect(await readArchive(memory, 's')).toEqual(whole)
    expect((await readArchive(memory, 's', 2)).body).toContain('another way')

    const again = conversation('s', ['one', 'two', { id: 'new', content: [text('another way')] }])
    expect(await archiveSession(memory, again)).toMatchObject({
      status: 'unchanged',
      kept: ['conversation:s'],
    })
  })

  it('never overwrites the output of a tool that the conversation no longer has', async () => {
    const memory = openMemory()
    const output: ContentBlock = { type: 'tool_result', toolUseId: '1', content: 'three tests failed' }
    const said = (...messages: Partial<Message>[]) => conversation('s', messages)
    const asked = { id: 'asked', content: [text('Run the tests')] }
    const last: Partial<Message> = { id: 'last', role: 'assistant', content: [text('They fail.')] }
    await archiveSession(memory, said(asked, { id: 'told', role: 'assistant', content: [output] }, last))
    await archiveSession(memory, said(asked, last, { id: 'more', content: [text('Mend them')] }))
    expect((await readArchive(memory, 's')).body).toContain('three tests failed')
  })

  it('archives what an edited archive lacks, also where its last message is the same', async () => {
    const memory = openMemory()
    const said = ['one', 'two', 'three'].map((word) => ({ id: word, content: [text(word)] }))
    await archiveSession(memory, conversation('s', said.slice(1)))
    const edited = { ...(await readArchive(memory, 's')), edited: true }
    await memory.write('episodic', 'conversation:s', edited, { type: 'conversation' })
    await archiveSession(memory, conversation('s', said))
    expect((await readArchive(memory, 's', 2)).body).toContain('one')
  })

  it('archives no beginning in which nothing was said once more', async () => {
    const memory = openMemory()
    const items = [{ content: [] }, 'We decided to use JWT for auth.']
    await archiveSession(memory, conversation('s', items))
    expect((await archiveSession(memory, conversation('s', items.slice(0, 1)))).parts).toEqual([
      { key: 'conversation:s', status: 'unchanged' },
    ])
  })

  it('keeps the beginning when a conversation goes on without it', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', ['one', 'two', 'three']))
    const tail = conversation('s', [
      { id: 's-m3', content: [text('three')] },
      { id: 's-m4', content: [text('four')] },
      { id: 's-m5', content: [text('five')] },
    ])
    expect((await archiveSession(memory, tail)).kept).toEqual(['conversation:s'])
    expect((await readArchive(memory, 's')).body).toContain('two')
  })

  it('keeps an archive that does not say which message was its last', async () => {
    const memory = openMemory()
    const foreign = {
      date: '',
      sessionId: 's',
      messageCount: 1,
      duration: '',
      source: 'session',
      topics: [],
      body: 'x',
    }
    await memory.write('episodic', 'conversation:s', foreign, { type: 'conversation' })
    expect((await archiveSession(memory, conversation('s', talk))).kept).toEqual(['conversation:s'])
    expect(await memory.read('episodic', 'conversation:s')).toEqual(foreign)
  })

  it('keeps what a person wrote into an archive, and goes on behind it', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk.slice(0, 2)))
    const edited = { ...(await readArchive(memory, 's')), edited: true }
    await memory.write('episodic', 'conversation:s', edited, { type: 'conversation' })
    expect(await archiveSession(memory, conversation('s', talk.slice(0, 2)))).toMatchObject({
      status: 'unchanged',
    })
    for (const status of ['created', 'unchanged'] as const) {
      expect(await archiveSession(memory, conversation('s', talk))).toMatchObject({
        kept: ['conversation:s'],
        parts: [{ key: 'conversation:s#2', status }],
      })
    }
    expect(await readArchive(memory, 's')).toEqual(edited)
  })

  it('leaves a checkpoint that a person edited as it is when the session ends without a further word', async () => {
    const memory = openMemory()
    await createCheckpoint(memory, conversation('s', talk))
    const edited = { ...(await readArchive(memory, 's')), edited: true }
    await memory.write('episodic', 'conversation:s', edited, { type: 'conversation' })
    expect(await archiveSession(memory, conversation('s', talk))).toMatchObject({
      status: 'unchanged',
      kept: [],
      window: 'added',
    })
    expect(await memory.search('episodic', {})).toHaveLength(1)
  })

  it('has no model sum up an archive again that says more than the conversation', async () => {
    const memory = openMemory()
    await createCheckpoint(memory, conversation('s', talk), { clock })
    const archive = await readArchive(memory, 's')
    const body = archive.body.replace('## Tags', '### User\n\nAnd rotate the keys.\n\n## Tags')
    await memory.write('episodic', 'conversation:s', { ...archive, body }, { type: 'conversation' })
    await archiveSession(memory, conversation('s', talk), { clock, lm: fakeLm(lmAnswer('Fixed.')) })
    expect((await readArchive(memory, 's')).body).toBe(body)
  })

  it('names each archive that it keeps once, also where further parts follow', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk.slice(0, 1)))
    const edited = { ...(await readArchive(memory, 's')), edited: true }
    await memory.write('episodic', 'conversation:s', edited, { type: 'conversation' })
    expect(await archiveSession(memory, conversation('s', talk), { partSize: 1 })).toMatchObject({
      kept: [],
      parts: [{ key: 'conversation:s' }, { key: 'conversation:s#2' }, { key: 'conversation:s#3' }],
    })
    const other = [{ id: 'another', content: [text('Fix the login')] }, 'one', 'two']
    expect(await archiveSession(memory, conversation('s', other), { partSize: 1 })).toMatchObject({
      kept: ['conversation:s', 'conversation:s#2', 'conversation:s#3'],
      parts: [{ key: 'conversation:s#4' }, { key: 'conversation:s#5' }, { key: 'conversation:s#6' }],
    })
  })

  it('is not overwritten by one that was begun earlier, knows less and took longer', async () => {
    const memory = openMemory()
    for (const first of [0, 1]) {
      if (first > 0) await archiveSession(memory, conversation('s1', talk.slice(0, first)))
      await createCheckpoint(memory, conversation(`s${first}`, talk.slice(0, 2)), {
        lm: {
          model: 'slow',
          async complete() {
            await archiveSession(memory, conversation(`s${first}`, talk))
            return ''
          },
        },
      })
      expect(await readArchive(memory, `s${first}`)).toMatchObject({ messageCount: 3, source: 'session' })
    }
  })

  it('asks its model once, as often as somebody else is faster to write', async () => {
    const memory = openMemory()
    let refusals = 2
    const contested: MemoryManager = {
      ...memory,
      async write(...given) {
        if (refusals-- > 0) throw new MemoryError('somebody was faster', MemoryErrorCode.CONFLICT)
        return memory.write(...given)
      },
    }
    const lm = fakeLm(lmAnswer('The login was fixed.'))
    await createCheckpoint(contested, conversation('s', talk), { lm })
    expect(lm.prompts).toHaveLength(1)
    expect((await readArchive(memory, 's')).summarizedBy).toBe('fake/model')
  })

  it('keeps the number that the store gave the archive', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk.slice(0, 1)))
    await memory.write('episodic', 'conversation:s', { ...(await readArchive(memory, 's')), log: 7 })
    await archiveSession(memory, conversation('s', talk))
    expect(await readArchive(memory, 's')).toMatchObject({ log: 7, messageCount: 3 })
  })

  it('gives one result for any series of growing readings', async () => {
    const steps = fc.array(fc.integer({ min: 1, max: 8 }), { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(steps, fc.integer({ min: 1, max: 60 }), async (lengths, partSize) => {
        const all = [
          'alpha says hello',
          'beta',
          'gamma wants a longer line',
          'delta',
          'eps',
          'zeta',
          'eta',
          'theta',
        ]
        const memory = openMemory()
        for (const length of [...lengths].sort()) {
          await createCheckpoint(memory, conversation('s', all.slice(0, length)), { partSize })
        }
        await archiveSession(memory, conversation('s', all), { partSize })
        const once = openMemory()
        const { parts } = await archiveSession(once, conversation('s', all), { partSize })
        expect(await memory.search('episodic', {}, { limit: 100 })).toHaveLength(parts.length)
        for (let part = 1; part <= parts.length; part++) {
          const { source: _, ...archive } = await readArchive(memory, 's', part)
          const { source: __, ...expected } = await readArchive(once, 's', part)
          expect(archive).toEqual(expected)
        }
      }),
      { numRuns: 50 },
    )
  })
})

describe('a session that a clean-up moved to cold storage', () => {
  const moved = async (): Promise<MemoryManager> => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', ['one', 'two', 'three', 'four']))
    expect(await memory.cleanup({ archiveBefore: start + minute })).toMatchObject({ archived: 1 })
    return memory
  }

  it('is known when nothing new was said', async () => {
    const memory = await moved()
    const outcome = await archiveSession(memory, conversation('s', ['one', 'two', 'three', 'four']))
    expect(outcome).toMatchObject({ status: 'unchanged', window: 'present' })
    expect(await memory.search('episodic', {})).toEqual([])
  })

  it('comes back when it grows', async () => {
    const memory = await moved()
    const longer = conversation('s', ['one', 'two', 'three', 'four', 'five'])
    expect(await archiveSession(memory, longer)).toMatchObject({ status: 'updated', window: 'updated' })
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 5 })
    expect(await memory.search('episodic', {}, { includeArchived: true })).toHaveLength(1)
  })

  it('grows as well when somebody else brings it back at that moment', async () => {
    const memory = await moved()
    const raced: MemoryManager = {
      ...memory,
      async restore(...given) {
        await memory.restore(...given)
        throw new MemoryError('it is back', MemoryErrorCode.CONFLICT)
      },
    }
    const longer = conversation('s', ['one', 'two', 'three', 'four', 'five'])
    expect(await archiveSession(raced, longer)).toMatchObject({ status: 'updated' })
    expect(await readArchive(memory, 's')).toMatchObject({ messageCount: 5 })
  })

  it('stays there when it cannot be brought back, and says so', async () => {
    const memory = await moved()
    const restore = vi.spyOn(memory, 'restore')
    restore.mockRejectedValueOnce(new MemoryError('not now', MemoryErrorCode.UNAVAILABLE))
    const longer = conversation('s', ['one', 'two', 'three', 'four', 'five'])
    await expect(archiveSession(memory, longer)).rejects.toThrow('not now')
    expect(await memory.search('episodic', {})).toEqual([])
  })

  it('keeps the messages that the conversation no longer has', async () => {
    const memory = await moved()
    const outcome = await archiveSession(memory, conversation('s', [{ id: 'new', content: [text('five')] }]))
    expect(outcome).toMatchObject({ status: 'archived', kept: ['conversation:s'] })
    await memory.cleanup({ archiveBefore: start + minute })
    const found = await memory.search<ConversationArchive>('episodic', {}, { includeArchived: true })
    expect(found.map(({ value }) => value.messageCount).sort()).toEqual([1, 4])
  })
})
