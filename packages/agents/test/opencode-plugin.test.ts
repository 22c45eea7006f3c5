import { EventEmitter, on } from 'node:events'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, vi } from 'vitest'
import { type Target, targets } from '../src/index.ts'
import { setUp, wiringIn, write } from './installing.ts'
import { temporaryFolder } from './support.ts'

/** The plugin for OpenCode, with a command of the test's in place of ours. */
async function openCodeModule(home: string, program: string, recallPrompts: boolean) {
  const opencode = targets.find(({ name }) => name === 'opencode') as Target
  write(home, { 'hook.cjs': program })
  const command = [process.execPath, join(home, 'hook.cjs')]
  setUp(home, opencode, { ...wiringIn(home), command, recallPrompts }).install()
  const module = join(home, 'recall.mjs')
  renameSync(join(home, '.config/opencode/plugins/recall.js'), module)
  return (await import(/* @vite-ignore */ pathToFileURL(module).href)).default
}

/** What the plugin does in a folder where OpenCode 1 loads it. */
const openCodePlugin = async (home: string, program: string, recallPrompts = true) =>
  (await openCodeModule(home, program, recallPrompts)).server({ directory: home })

interface HostEvent {
  type: string
  data: { sessionID: string }
}

/** What the plugin does in a folder where OpenCode 2 loads it. */
async function openCode2Plugin(home: string, program: string, recallPrompts = true) {
  const hooks: Record<string, (event: unknown) => Promise<void>> = {}
  const events = new EventEmitter()
  const { id, setup } = await openCodeModule(home, program, recallPrompts)
  const unload = await setup({
    location: { directory: home },
    session: {
      hook: async (name: string, call: (event: unknown) => Promise<void>) => {
        hooks[name] = call
      },
    },
    event: {
      subscribe: async function* () {
        for await (const [event] of on(events, 'event')) yield event
      },
    },
  })
  return {
    id,
    unload,
    hooks,
    hear: (event: HostEvent): unknown => events.emit('event', event),
    /** What the model is told before the conversation. */
    async systemOf(sessionID: string): Promise<string[]> {
      const system = [{ type: 'text', text: 'You are OpenCode.' }]
      await hooks.context?.({ sessionID, system, messages: [] })
      return system.map(({ text }) => text)
    },
  }
}

it('OpenCode goes on without a hook that hangs, also when what it started keeps the pipe open', async () => {
  const home = await temporaryFolder()
  const done = join(home, 'done')
  write(home, {
    'helper.cjs': `setInterval(() => require('fs').existsSync(${JSON.stringify(done)}) && process.exit(), 20)`,
  })
  const program = `require('child_process').spawn(process.execPath, [${JSON.stringify(join(home, 'helper.cjs'))}], { stdio: ['ignore', 'inherit', 'ignore'] })`
  const hooks = await openCodePlugin(home, program)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const output = { system: ['be good'] }
    const told = hooks['experimental.chat.system.transform']({ sessionID: 's' }, output)
    await vi.advanceTimersByTimeAsync(10_000)
    await told
    expect(output.system).toEqual(['be good'])

    const parts = [{ id: 'prt_1', type: 'text', text: 'where is the pool?' }]
    const looked = hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts })
    await vi.advanceTimersByTimeAsync(5000)
    await looked
    expect(parts).toHaveLength(1)
  } finally {
    vi.useRealTimers()
    writeFileSync(done, '')
  }
})

it('OpenCode is told for the session, and not for the title and the summary that it asks for itself', async () => {
  const hooks = await openCodePlugin(await temporaryFolder(), 'console.log("the pool leaks")')
  const systemOf = async (text: string): Promise<string | undefined> => {
    const output = { system: [text] }
    await hooks['experimental.chat.system.transform']({ sessionID: 's' }, output)
    return output.system[0]
  }
  const own = [
    'You are a title generator. You output ONLY a thread title.',
    'You are a context summarization agent. You are given a conversation.',
    'You are an anchored context summarization assistant for coding sessions.',
  ]
  for (const text of own) expect(await systemOf(text)).toBe(text)
  expect(await systemOf('You are OpenCode.')).toBe('the pool leaks\n\n\nYou are OpenCode.')
})

it('OpenCode says which session rests and which is compacted, and where', async () => {
  const home = await temporaryFolder()
  const heard = join(home, 'heard')
  const hooks = await openCodePlugin(
    home,
    `process.stdin.on('data', (told) =>
      require('fs').appendFileSync(${JSON.stringify(heard)}, process.argv[3] + ' ' + told + '\\n'))`,
  )
  await hooks.event({ event: { type: 'session.updated', properties: { info: { id: 's' } } } })
  await hooks.event({ event: { type: 'session.idle', properties: { sessionID: 's' } } })
  await hooks['experimental.session.compacting']({ sessionID: 's' })
  const told = JSON.stringify({ host: 'opencode', session_id: 's', cwd: home })
  expect(readFileSync(heard, 'utf8')).toBe(`stop ${told}\npre-compact ${told}\n`)
})

it('OpenCode asks once for what a session is told, and anew when that was deleted', async () => {
  const home = await temporaryFolder()
  const asked = JSON.stringify(join(home, 'asked'))
  const hooks = await openCodePlugin(
    home,
    `const fs = require('fs')
    fs.appendFileSync(${asked}, '.')
    console.log('asked' + fs.readFileSync(${asked}))`,
  )
  const told = async (): Promise<string | undefined> => {
    const output = { system: [''] }
    await hooks['experimental.chat.system.transform']({ sessionID: 's' }, output)
    return output.system[0]?.trim()
  }
  expect([await told(), await told()]).toEqual(['asked.', 'asked.'])
  await hooks.event({ event: { type: 'session.deleted', properties: { info: { id: 's' } } } })
  expect(await told()).toBe('asked..')
})

describe('a prompt in OpenCode', () => {
  const echo = `process.stdin.on('data', (told) => {
    const { session_id, prompt } = JSON.parse(told)
    if (prompt.includes('pool')) console.log([process.argv[3], session_id, prompt].join(': '))
  })`
  const typed = (text: string) => [
    { id: 'prt_1', type: 'text', text },
    { id: 'prt_2', type: 'text', text: 'a file', synthetic: true },
  ]

  it('is given what is found for what was typed, in a part of its own that nobody typed', async () => {
    const hooks = await openCodePlugin(await temporaryFolder(), echo)
    const parts = typed('where is the pool?')
    await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts })
    expect(parts.slice(2)).toEqual([
      {
        id: 'prt_2r',
        sessionID: 's',
        messageID: 'm',
        type: 'text',
        text: 'prompt: s: where is the pool?\n',
        synthetic: true,
      },
    ])
  })

  it('is not what a plugin shows the person', async () => {
    const hooks = await openCodePlugin(await temporaryFolder(), echo)
    const parts = [{ id: 'prt_1', type: 'text', text: '12 results of the pool pruned', ignored: true }]
    await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts })
    expect(parts).toHaveLength(1)
  })

  it.each([
    ['nothing is found', 'how are you?', true],
    ['nobody asked for it', 'where is the pool?', false],
  ])('stays as it is when %s', async (_, text, recallPrompts) => {
    const hooks = await openCodePlugin(await temporaryFolder(), echo, recallPrompts)
    const parts = typed(text)
    await hooks['chat.message']({ sessionID: 's' }, { message: { id: 'm' }, parts })
    expect(parts).toHaveLength(2)
  })
})

describe('in OpenCode 2', () => {
  it('a session is told at its start, once asked, and anew when it was deleted', async () => {
    const home = await temporaryFolder()
    const asked = JSON.stringify(join(home, 'asked'))
    const { id, hear, systemOf } = await openCode2Plugin(
      home,
      `const fs = require('fs')
      fs.appendFileSync(${asked}, '.')
      console.log('asked' + fs.readFileSync(${asked}))`,
    )
    expect(id).toBe('recall')
    for (const sessionID of ['s', 's']) {
      expect(await systemOf(sessionID)).toEqual(['You are OpenCode.', 'asked.\n'])
    }
    hear({ type: 'session.deleted', data: { sessionID: 's' } })
    await vi.waitFor(async () => expect((await systemOf('s'))[1]).toBe('asked..\n'))
  })

  it('memory hears which session rests and which is compacted, and where, until the plugin is unloaded', async () => {
    const home = await temporaryFolder()
    const heard = join(home, 'heard')
    const { hooks, hear, unload } = await openCode2Plugin(
      home,
      `process.stdin.on('data', (told) =>
        require('fs').appendFileSync(${JSON.stringify(heard)}, process.argv[3] + ' ' + told + '\\n'))`,
    )
    const told = (sessionID: string): string =>
      JSON.stringify({ host: 'opencode', session_id: sessionID, cwd: home })
    await hooks.compaction?.({ sessionID: 's' })
    expect(readFileSync(heard, 'utf8')).toBe(`pre-compact ${told('s')}\n`)
    hear({ type: 'session.execution.started', data: { sessionID: 's0' } })
    for (const [i, end] of ['succeeded', 'failed', 'interrupted'].entries()) {
      const sessionID = `s${i + 1}`
      hear({ type: `session.execution.${end}`, data: { sessionID } })
      await vi.waitFor(() => expect(readFileSync(heard, 'utf8')).toContain(`stop ${told(sessionID)}\n`))
    }
    unload()
    hear({ type: 'session.execution.succeeded', data: { sessionID: 's4' } })
    await hooks.compaction?.({ sessionID: 's' })
    expect(readFileSync(heard, 'utf8').match(/^\S+/gm)).toEqual([
      'pre-compact',
      'stop',
      'stop',
      'stop',
      'pre-compact',
    ])
  })

  it.each([true, false])(
    'what is found for the latest prompt is told with it, if asked for: %s',
    async (isAsked) => {
      const { hooks, systemOf } = await openCode2Plugin(
        await temporaryFolder(),
        `process.stdin.on('data', (told) => {
        const { session_id, prompt } = JSON.parse(told)
        if (prompt?.includes('pool')) console.log([process.argv[3], session_id, prompt].join(': '))
      })`,
        isAsked,
      )
      const ask = async (text: string) => {
        const prompt = { text }
        await hooks.prompt?.({ sessionID: 's', prompt })
        expect(prompt).toEqual({ text })
        return systemOf('s')
      }
      const found = 'prompt: s: where is the pool?\n'
      expect(await ask('where is the pool?')).toEqual(['You are OpenCode.', ...(isAsked ? [found] : [])])
      expect(await systemOf('other')).toEqual(['You are OpenCode.'])
      expect(await ask('and now?')).toEqual(['You are OpenCode.'])
    },
  )
})
