import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  CannotEdit,
  type FileEdit,
  jsonFile,
  listImportable,
  markedBlock,
  openTranscript,
  parseHookInput,
  readMemoryExport,
  stateOfSource,
  tomlTable,
  yamlList,
} from '@recall/agents'
import { createInMemoryStore, createMemoryManager, isMemoryError, memoryScopes } from '@recall/core'
import { parseEchoes, parseRemembrance, parseSidecar, printEchoes } from '@recall/echoes'
import { archiveSession } from '@recall/sessions'
import { defaultFileSystem, layouts, openFileStore, readConfig } from '@recall/store-file'

/** Something that reads what people, hosts or strangers wrote. */
export interface Parser {
  /** Harmless inputs. */
  samples: readonly string[]
  /** Prepares to read in an empty folder; returns how to read one input there. */
  open(folder: string): Promise<{ read(input: Uint8Array): unknown; close?(): Promise<void> }>
}

/** Whether an error tells the person what is wrong; any other error is a defect. */
export const isRefusal = (error: unknown): boolean => isMemoryError(error) || error instanceof CannotEdit

const ofText = (samples: readonly string[], read: (text: string) => unknown): Parser => ({
  samples,
  open: async () => ({ read: (input) => read(Buffer.from(input).toString('utf8')) }),
})

/** Adds to settings twice and removes it again. */
const ofSettings = (samples: readonly string[], edit: FileEdit): Parser =>
  ofText(samples, (text) => {
    const added = edit.add(text)
    if (edit.add(added) !== added) throw new Error('a second installation changes the file')
    const removed = edit.remove(added)
    if (removed !== null && edit.remove(removed) !== removed)
      throw new Error('a second removal changes the file')
  })

const hook = { hooks: [{ type: 'command', command: 'recall hook stop' }] }

const note = `---
type: note
tags: [a, b]
created: 2026-01-01T00:00:00.000Z
ttl: 60
---

The harbour has a lighthouse.
`

const archive = `---
log: 1
date: "2026-01-01T00:00:00Z"
session_id: s
message_count: 2
duration: 5m
source: session
topics: ["harbour"]
---

# Conversation 001

## Summary

A talk.

### User

Where is the lighthouse?

### Assistant

At the harbour.
`

const curated = '# Memory\n\n## Harbour\n\nThe harbour has a lighthouse.\n\n## People\n\n- Ada\n- Grace\n'

/** Every markdown file that a memory is read from. */
const markdown: Parser = {
  samples: [note, archive, curated, '# Ephemeral\n\n---\n\n## Session s - 2026-01-01\n\nA talk.\n', ''],
  async open(folder) {
    const root = join(folder, 'root')
    const places = ['memory/long-term/a.md', 'memory/MEMORY.md', 'memory/EPHEMERAL.md', 'memory/conversations/conversation-001.md'] // biome-ignore format: a list
    for (const place of places) mkdirSync(join(root, place, '..'), { recursive: true })
    const store = await openFileStore({ root, layout: 'entity' })
    const memory = createMemoryManager({ stores: store })
    let turn = 0
    return {
      async read(input) {
        const place = join(root, places[turn++ % places.length] as string)
        writeFileSync(place, input)
        try {
          store.index.update()
          for (const scope of memoryScopes) {
            const found = await memory.search(scope, {}, { limit: 50, touch: false })
            for (const { key } of found.slice(0, 5)) await memory.read(scope, key).catch(refusal)
          }
          await memory.search('long-term', { text: 'harbour' }, { touch: false })
        } finally {
          rmSync(place, { force: true })
        }
      },
      close: () => memory.close(),
    }
  },
}

const refusal = (error: unknown): void => {
  if (!isRefusal(error)) throw error
}

/** A transcript of any host: read to its end, and archived without any of its secrets on disk. */
const transcripts: Parser = {
  samples: [
    lines({ type: 'user', sessionId: 's', uuid: 'u1', timestamp: '2026-01-01T00:00:00Z', message: { role: 'user', content: 'Where is the lighthouse?' } }, { type: 'assistant', sessionId: 's', uuid: 'u2', parentUuid: 'u1', message: { role: 'assistant', content: [{ type: 'text', text: 'At the harbour.' }, { type: 'tool_use', id: 't', name: 'Read', input: {} }] } }),
    lines({ timestamp: '2026-01-01T00:00:00Z', type: 'session_meta', payload: { id: 's', cwd: '/x' } }, { timestamp: '2026-01-01T00:00:01Z', type: 'response_item', payload: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Where?' }] } }),
    lines({ role: 'user', content: 'Where?' }, { role: 'assistant', content: 'Here.' }),
    JSON.stringify({ sessionId: 's', startTime: '2026-01-01T00:00:00Z', messages: [{ id: '1', type: 'user', content: 'Where?' }, { id: '2', type: 'gemini', content: 'Here.' }] }),
    '# Talk\n\n## User\n\nWhere?\n\n## Assistant\n\nHere.\n',
    lines({ role: 'user', content: 'the key is AKIAIOSFODNN7REALKEY and ghp_16C7e42F292c6912E7710c838347Ae178B4a' }),
  ], // biome-ignore format: samples
  async open(folder) {
    const root = join(folder, 'root')
    mkdirSync(root)
    let turn = 0
    return {
      async read(input) {
        const path = join(folder, `transcript.${['jsonl', 'json', 'md'][turn++ % 3]}`)
        writeFileSync(path, input)
        const conversation = await openTranscript(path)
        await archiveSession(createMemoryManager({ stores: createInMemoryStore() }), conversation)
      },
    }
  },
}

/** Exports of chat services: each conversation found is archived or refused, and no two have the same id. */
const conversations: Parser = {
  samples: [
    JSON.stringify([{ uuid: 'c1', name: 'A talk', created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-02T00:00:00Z', chat_messages: [{ uuid: 'm1', sender: 'human', text: 'Where?', content: [{ type: 'text', text: 'Where?' }], created_at: '2026-01-01T00:00:00Z', attachments: [{ file_name: 'a.txt', extracted_content: 'A map.' }] }, { sender: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'look', input: {} }, { type: 'tool_result', tool_use_id: 't', content: 'Found.' }, { type: 'text', text: 'Here.' }] }] }, { uuid: 'c2', chat_messages: [{ sender: 'human', text: 'Again "\\" [{é' }] }]),
    JSON.stringify([{ title: 'A talk', conversation_id: 'c3', create_time: 1767225600.5, update_time: null, current_node: 'c', mapping: { r: { parent: null, children: ['a'], message: null }, a: { parent: 'r', children: ['b', 'c'], message: { author: { role: 'user' }, create_time: 1767225600, content: { content_type: 'multimodal_text', parts: ['Where?', { content_type: 'image_asset_pointer' }] }, metadata: {} } }, b: { parent: 'a', children: [], message: { author: { role: 'tool', name: 'python' }, content: { content_type: 'execution_output', text: 'out' } } }, c: { parent: 'a', children: [], message: { author: { role: 'assistant' }, recipient: 'all', content: { content_type: 'text', parts: ['Here.'] } } } } }], null, 1),
  ], // biome-ignore format: samples
  async open(folder) {
    const path = join(folder, 'export.json')
    return {
      async read(input) {
        writeFileSync(path, input)
        const ids = new Set<string>()
        for (const source of await listImportable(path)) {
          await stateOfSource(source)
          const conversation = await openTranscript(source).catch(refusal)
          if (!conversation) continue
          if (ids.has(conversation.sessionId)) throw new Error('two conversations have one id')
          ids.add(conversation.sessionId)
          await archiveSession(createMemoryManager({ stores: createInMemoryStore() }), conversation)
        }
      },
    }
  },
}

function lines(...values: unknown[]): string {
  return `${values.map((value) => JSON.stringify(value)).join('\n')}\n`
}

/** Invented; each has the shape of a real kind of secret. */
export const plantedSecrets = ['ghp_16C7e42F292c6912E7710c838347Ae178B4a', 'AKIAQYLPMN5HFIQR7XYA'] as const

/** Whether a planted secret occurs in a text as a word; between letters or digits it would be another one. */
export const saysSecret = (text: string): boolean =>
  plantedSecrets.some((secret) =>
    new RegExp(`(?<![\\p{L}\\p{N}_+/=.-])${secret}(?![\\p{L}\\p{N}_+/=.-])`, 'u').test(text),
  )

/** Whatever surrounds a secret, it does not reach the disk. */
const redaction: Parser = {
  samples: plantedSecrets.map((secret) => `The key is ${secret} and it works.\n`),
  async open(folder) {
    const root = join(folder, 'root')
    mkdirSync(root)
    const memory = createMemoryManager({ stores: await openFileStore({ root }) })
    return {
      async read(input) {
        const text = Buffer.from(input).toString('utf8')
        await memory.write('long-term', 'note', text)
        const written = readFileSync(join(root, 'memory/long-term/note.md'), 'utf8')
        if (saysSecret(written)) throw new Error('a secret is on disk')
      },
      close: () => memory.close(),
    }
  },
}

/** Filters as JSON, on values of every kind. */
const filters: Parser = {
  samples: [
    '{"type":"note","tags":{"$contains":"a"}}',
    '{"$or":[{"n":{"$gt":1,"$lte":5}},{"$not":{"text":{"$regex":"^a.*b$"}}}]}',
    '{"items":{"$elemMatch":{"name":"x","n":{"$in":[1,2,null]}}}}',
    '{"a.b.c":{"$exists":true},"d":{"$overlap":["x"]}}',
  ],
  async open() {
    const memory = createMemoryManager({ stores: createInMemoryStore() })
    const values = [
      { n: 3, text: 'aab', items: [{ name: 'x', n: 1 }], a: { b: { c: null } }, d: ['x'] },
      'text',
      5,
      null,
      [1],
      {},
    ]
    for (const [i, value] of values.entries())
      await memory.write('long-term', `v${i}`, value, { type: 'note' })
    return {
      async read(input) {
        const text = Buffer.from(input).toString('utf8')
        let filter: unknown
        try {
          filter = JSON.parse(text)
        } catch {
          // Text that is not JSON is searched for instead.
          await memory.search('long-term', { text }, { touch: false })
          return
        }
        await memory.search('long-term', { filters: filter as Record<string, unknown> }, { touch: false })
      },
      close: () => memory.close(),
    }
  },
}

const echoes: Parser = {
  ...ofText(
    [
      '<!-- echo-schema: v1 -->\n\n# Reviewer\n\n## Inscribed — Retries need jitter (2026-01-01)\n**Source**: `src/a.ts:10`\n**Confidence**: HIGH\n- Without it all come back at once\n',
      '## Traced — A thing\n- learned\n',
      '---\ntitle: x\ncategory: build-errors\ndate: 2026-01-01\n---\n\n# X\n',
      '{"version":1,"entries":{}}',
    ],
    (text) => {
      const printed = printEchoes(parseEchoes(text))
      if (printEchoes(parseEchoes(printed)) !== printed) throw new Error('what was printed reads otherwise')
      for (const parse of [parseRemembrance, parseSidecar]) {
        try {
          parse(text, 'file')
        } catch (error) {
          refusal(error)
        }
      }
    },
  ),
}

const memoryExports: Parser = {
  samples: [
    lines({ type: 'entity', name: 'Ada', entityType: 'person', observations: ['wrote'] }, { type: 'relation', from: 'Ada', to: 'B', relationType: 'knows' }),
    JSON.stringify({ results: [{ id: '1', memory: 'likes tea', created_at: '2026-01-01T00:00:00Z', metadata: {} }] }),
    JSON.stringify({ export_metadata: {}, memories: [{ content: 'x', content_hash: 'h', created_at: 1, memory_type: 'note' }] }),
    JSON.stringify({ observations: [{ id: 1, title: 't', narrative: 'n', created_at: '2026-01-01' }], sessions: [], summaries: [], prompts: [] }),
    JSON.stringify({ results: [{ id: 'a', text: 'likes tea', userId: 'ana', expirationDate: null }, { id: 'b', content: 'c' }], relations: [{ source: 'a', relationship: 'b', destination: 'c' }] }),
    JSON.stringify({ version: '0.3.0', exportedAt: '2026-01-01', sessions: [{ id: 's', project: 'p' }], observations: { s: [{ id: 'o', title: 't', facts: ['f'], files: ['a'] }] }, memories: [{ id: 'm', title: 't', content: 'c', concepts: ['x'], isLatest: true }], summaries: [{ sessionId: 's', narrative: 'n', keyDecisions: ['d'] }] }),
    JSON.stringify([{ uuid: 'p', name: 'n', prompt_template: 't', docs: [{ uuid: 'd', filename: 'f', content: 'c', created_at: '2026-01-01' }] }]),
    '---\ntitle: Note\npermalink: note\ntags: [a]\n---\n\n# Note\n\n- [fact] the harbour #a\n- relates_to [[Other]]\n',
  ], // biome-ignore format: samples
  async open(folder) {
    let turn = 0
    return {
      async read(input) {
        const path = join(folder, `export.${['json', 'jsonl', 'md'][turn++ % 3]}`)
        writeFileSync(path, input)
        await readMemoryExport(path, { name: 'export', now: Date.UTC(2026, 0, 1) })
      },
    }
  },
}

const config: Parser = {
  samples: ['[ephemeral]\nmax_entries = 5\n', '# nothing\n', 'a = { b = [1, 2] }\n'],
  async open(folder) {
    const root = join(folder, 'root')
    const layout = layouts.entity
    const path = join(root, layout.config)
    mkdirSync(join(path, '..'), { recursive: true })
    return {
      read(input) {
        writeFileSync(path, input)
        readConfig(defaultFileSystem, root, layout)
      },
    }
  },
}

export const parsers = {
  markdown,
  transcripts,
  redaction,
  filters,
  echoes,
  exports: memoryExports,
  conversations,
  config,
  'json-settings': ofSettings(
    ['{}', '{\n  // mine\n  "hooks": { "Stop": [{ "hooks": [] }] },\n}\n', '{"a":[1,2,{"b":null}]}', ''],
    jsonFile('x', [{ at: ['hooks', 'Stop'], hook }]),
  ),
  'toml-settings': ofSettings(
    ['model = "x"\n[mcp_servers.other]\ncommand = "y"\n', '', '[a]\nb = [1, 2]\n'],
    tomlTable('x', ['mcp_servers', 'recall'], { command: 'recall', args: ['mcp'] }),
  ),
  'yaml-settings': ofSettings(
    ['read: [x, y]\n', 'read:\n  - x\nmodel: m\n', '# words\n'],
    yamlList('x', 'read', ['/m/a.md']),
  ),
  'rules-files': ofSettings(['# Rules\n\n- be kind\n', ''], markedBlock('x', 'Recall is here.\n')),
  'hook-input': ofText(
    [
      '{"session_id":"s","transcript_path":"/x","hook_event_name":"Stop","cwd":"/y"}',
      '{"prompt":"where?","sessionId":"s"}',
    ],
    (text) => parseHookInput(text),
  ),
} satisfies Record<string, Parser>

export type ParserName = keyof typeof parsers
