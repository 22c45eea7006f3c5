import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { expect, it, onTestFinished } from 'vitest'
import {
  type EchoEntry,
  type KnownEcho,
  mirrorEchoes,
  openEchoes,
  parseEchoes,
  promoteEcho,
  surface,
} from '../src/index.ts'
import { entryOf } from './support.ts'

async function open() {
  const root = await mkdtemp(join(tmpdir(), 'echoes-'))
  onTestFinished(() => rm(root, { recursive: true }))
  const path = (name: string) => join(root, 'reviewer', name)
  return { echoes: openEchoes({ root }), path, memory: () => readFile(path('MEMORY.md'), 'utf8') }
}
const entriesOf = (text: string): EchoEntry[] =>
  parseEchoes(text).blocks.flatMap(({ entry }) => (entry ? [entry] : []))

it.each([
  ['Call it with bearer abc.def-123.', 'Call it with bearer [redacted:token].'],
  ['Call it with bearer\nabc.def-123 only.', 'Call it with bearer\n[redacted:token] only.'],
  ['Use `token = abcdefghijABCDEFGHIJ`.', 'Use `token = [redacted:api-key]`.'],
  ['API key: QWERTYUIOPASDFGHJKLZ', 'API key: [redacted:api-key]'],
  ['password: swordfish, then wait', 'password: [redacted:password], then wait'],
  ['Open a://u:ab/c@host.', 'Open a://u:[redacted:connection-string]@host.'],
  ['password: bearer abc.def', 'password: [redacted:password] [redacted:token]'],
])('replaces what evidence may not hold in every text of an entry: %j', async (secret, left) => {
  const { echoes, memory } = await open()
  const line = secret.replace('\n', ' ')
  const added = await echoes.add('reviewer', entryOf({ title: line, source: line, learning: secret }))
  await echoes.appendFinding('reviewer', 'ann', entryOf({ title: `Also ${line}`, supersedes: line }))
  await echoes.consolidate('reviewer')
  const shown = left.replace('\n', ' ')
  const kinds = [...left.matchAll(/redacted:([\w-]+)/g)].map(([, kind]) => kind)
  expect(added.stripped.toSorted()).toEqual(kinds)
  const whole = ({ kind, title }: EchoEntry) => (kind === 'Pattern' ? title : `${kind}: ${title}`)
  expect(entriesOf(await memory()).map(whole)).toEqual([shown, `Also ${shown}`])
  expect(entriesOf(await memory())).toMatchObject([
    { source: shown, learning: left, evidence: entryOf().evidence },
    { supersedes: shown, evidence: entryOf().evidence },
  ])
})

it('replaces them in findings that were written by hand, in copies for searches and in documents', async () => {
  const { echoes, path, memory } = await open()
  await echoes.appendFinding('reviewer', 'ann', entryOf())
  const written = await readFile(path('ann-findings.md'), 'utf8')
  await writeFile(path('ann-findings.md'), written.replace('one query', 'bearer abc.def-123'))
  expect((await echoes.consolidate('reviewer')).stripped).toMatchObject([{ kinds: ['token'] }])
  expect(await memory()).toContain('Load what a list shows with bearer [redacted:token].')
  await writeFile(path('MEMORY.md'), (await memory()).replace('[redacted:token]', 'abc.def-123'))
  const copies = createMemoryManager({ stores: createInMemoryStore() })
  await mirrorEchoes(echoes, copies)
  const [copy] = await copies.search('long-term', { tags: ['echo'] })
  expect(copy?.value).toMatchObject({ learning: 'Load what a list shows with bearer [redacted:token].' })
  const surfaced = await surface(echoes, { task: 'list shows', roles: ['reviewer'] })
  expect(surfaced.text).toContain('bearer [redacted:token].')
  const folder = path('solutions')
  const [known] = (await echoes.read('reviewer')).echoes
  const etched = { ...known, entry: { ...known?.entry, layer: 'etched' } } as KnownEcho
  const promoted = await promoteEcho({ folder }, 'reviewer', etched, {
    category: 'tooling',
    tags: ['lists'],
    symptom: 'password: swordfish is refused',
    root_cause: 'it is old',
    solution_summary: 'bearer abc.def-123 is taken',
    actionable: true,
  })
  const document = await readFile(join(folder, promoted.path), 'utf8')
  expect(document).toContain('password: [redacted:password] is refused')
  expect(document).not.toMatch(/swordfish|abc\.def/)
})

it.each([
  'A token bucket refills; the bearer token is checked first.',
  'Bearer authentication: the header has the word bearer and a token.',
  'The cache key is user_session_expiry_seconds, not userSessionExpirySeconds.',
  'Each token: countOfTokensInWindow; key: max-connections-of-2026-pool.',
  'The secret: keep a sentence that internationalises short.',
  'In the form password: required, in the type password: string, password=$DB_PASSWORD.',
  'Passwords are hashed: see https://example.com:8080/a@b and ada@example.com.',
])('keeps what only speaks of keys, tokens and passwords: %s', async (learning) => {
  const { echoes } = await open()
  const title = learning.replaceAll(':', ',')
  expect((await echoes.add('reviewer', entryOf({ title, learning }))).stripped).toEqual([])
  expect((await echoes.read('reviewer')).echoes[0]?.entry).toMatchObject({ title, learning })
})
