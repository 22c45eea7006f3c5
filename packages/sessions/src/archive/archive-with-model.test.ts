import { describe, expect, it } from 'vitest'
import { conversation, fakeLm, lmAnswer, openMemory, readArchive, talk } from '../../test/support.ts'
import { archiveSession, createCheckpoint } from './archive-session.ts'
import { readWindow } from './window.ts'

describe('an archive whose summary a model writes', () => {
  it('says which model summarised, with its decisions and action items in the summary', async () => {
    const memory = openMemory()
    const lm = fakeLm(lmAnswer('Login was fixed.'))
    await archiveSession(memory, conversation('s', talk), { lm })
    const archive = await readArchive(memory, 's')
    expect(archive.body.split('### User')[0]).toBe(
      '## Summary\n\nLogin was fixed.\n\n**Decisions**: Use JWT for auth\n**Action Items**: Rotate the keys\n\n',
    )
    expect(archive).toMatchObject({ summarizedBy: 'fake/model', topics: ['auth', 'jwt'] })
    expect((await readWindow(memory))[0]?.summary).toMatch(/^Login was fixed\.\n\n\*\*Decisions\*\*/)
  })

  it('asks a model once for what a checkpoint and the end of the session say, and at the end if not before', async () => {
    const memory = openMemory()
    const lm = fakeLm(lmAnswer('The login was fixed.'))
    await createCheckpoint(memory, conversation('asked', talk), { lm })
    await archiveSession(memory, conversation('asked', talk), { lm })
    expect(lm.prompts).toHaveLength(1)
    expect((await readArchive(memory, 'asked')).summarizedBy).toBe('fake/model')
    await createCheckpoint(memory, conversation('unasked', talk))
    await archiveSession(memory, conversation('unasked', talk), { lm })
    expect(lm.prompts).toHaveLength(2)
    expect((await readArchive(memory, 'unasked')).summarizedBy).toBe('fake/model')
  })

  it('falls back to the algorithm when the model fails, and says so', async () => {
    const memory = openMemory()
    const outcome = await archiveSession(memory, conversation('s', talk), { lm: fakeLm(new Error('down')) })
    expect(outcome.summarizedBy).toBe('algorithm')
    expect((await readArchive(memory, 's')).summarizedBy).toBe('algorithm')
  })

  it('asks a model about a new part, also behind one that was summarised without a model', async () => {
    const memory = openMemory()
    await archiveSession(memory, conversation('s', talk.slice(0, 1)), { partSize: 10 })
    const lm = fakeLm(lmAnswer('JWT it is.'), lmAnswer('Thanked.'))
    const outcome = await archiveSession(memory, conversation('s', talk), { lm, partSize: 10 })
    expect(outcome).toMatchObject({ status: 'updated', summarizedBy: 'fake/model' })
    expect(outcome.parts.map(({ status }) => status)).toEqual(['unchanged', 'created', 'created'])
    expect(lm.prompts).toHaveLength(2)
  })

  it('asks a model about the parts in which somebody speaks, and about no others', async () => {
    const memory = openMemory()
    const lm = fakeLm(lmAnswer('The login was fixed.'))
    const run = { type: 'tool_use' as const, id: 't', name: 'Bash', input: { command: 'x'.repeat(90) } }
    const session = conversation('s', ['/clear', { content: [run] }, 'Fix the login'])
    const outcome = await archiveSession(memory, session, { lm, partSize: 100 })
    expect(outcome.parts).toHaveLength(3)
    expect(outcome.summarizedBy).toBe('fake/model')
    expect(lm.prompts).toEqual(['User: Fix the login'])
    const again = await archiveSession(memory, session, { lm, partSize: 100, resummarize: true })
    expect(again.status).toBe('unchanged')
  })
})
