import { connectHub, type FoundMemory, type HubClient, registerAgent } from '@recall/client'
import { type JsonObject, redactJson } from '@recall/core'
import { describeSaved } from '../describe-saved.ts'
import { exitCodes, UsageError } from '../exit-codes.ts'
import { withKeyLocked } from '../hosts/lock-files.ts'
import {
  type FoundAccess,
  findHubAccess,
  type HubAccess,
  keyFileOf,
  readKeyFile,
  reserveKeyFile,
  rootOf,
  withPlaceOfKey,
} from '../hub-access.ts'
import { removedIfEnded } from '../memory/unfinished.ts'
import { splitTags } from '../split-tags.ts'
import { formatCounts, formatSignals, paint } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'

export interface HubOptions {
  json: boolean
  url?: string
  keyFile?: string
  tags?: string
  source?: string
  limit: number
  explain: boolean
}

interface Call {
  io: Io
  hub: HubClient
  access: FoundAccess
  options: HubOptions
  /** Prints one JSON document, or text for people. */
  print(value: object, text: () => string): void
}

type Action = (call: Call, argument: string) => Promise<number | undefined>

/** The actions of a registered agent. */
const actions: Record<string, { argument?: string; run: Action }> = {
  save: { argument: '<text>', run: save },
  search: { argument: '<question>', run: search },
  get: {
    argument: '<id>',
    async run({ io, hub, print }, id) {
      const memory = await hub.get(id)
      print({ memory }, () => {
        const related = memory.related.map(({ short_id, relation }) => `${short_id} (${relation})`).join(', ')
        return `${shown(io, memory)}${related ? printable(`related: ${related}\n`) : ''}`
      })
      return undefined
    },
  },
  cite: {
    argument: '<id>',
    async run({ hub, print }, id) {
      const cited = await hub.cite(id)
      print(cited, () => printable(`source: ${cited.citation}\n`))
      return undefined
    },
  },
  delete: {
    argument: '<id>',
    async run({ hub, print }, id) {
      const status = await hub.delete(id)
      print({ status }, () =>
        status === 'deleted'
          ? 'Deleted.\n'
          : 'Deleted; others had cited it, or it is in quarantine, so its id still shows that it existed.\n',
      )
      return undefined
    },
  },
  whoami: {
    async run({ hub, access, print }) {
      const agent = await hub.whoami()
      print({ agent, url: access.url }, () => `${printable(agent.name)} on ${access.url}\n`)
      return undefined
    },
  },
  'rotate-key': { run: rotateKey },
}

/** Shares memories with other agents on a hub. */
export async function hub(io: Io, words: string[], options: HubOptions): Promise<number> {
  const [name = '', argument] = words
  const print: Call['print'] = (value, text) => io.out(options.json ? `${JSON.stringify(value)}\n` : text())
  if (name !== 'register' && !Object.hasOwn(actions, name)) {
    throw new UsageError(`hub takes register, ${Object.keys(actions).join(', ')}, not '${name}'`)
  }
  const wanted = name === 'register' ? '<name>' : actions[name]?.argument
  const given = name === 'save' && argument === undefined ? await io.readText?.() : argument
  if (wanted && !given) throw new UsageError(`${wanted} is missing (see 'recall hub --help')`)
  if (!wanted && argument !== undefined) throw new UsageError(`'${argument}' is one argument too many`)
  if (name === 'register') return register(io, given as string, options, print)
  const access = findHubAccess(io, options)
  const client = connectHub({ url: access.url, apiKey: access.apiKey })
  try {
    const call = { io, hub: client, access, options, print }
    return (await actions[name]?.run(call, given ?? '')) ?? exitCodes.fine
  } catch (error) {
    throw withPlaceOfKey(error, access)
  } finally {
    await client.close()
  }
}

async function register(io: Io, name: string, options: HubOptions, print: Call['print']): Promise<number> {
  const url = options.url ?? io.env.RECALL_API_URL
  if (!url) throw new UsageError('which hub? Give --url <address>, or set RECALL_API_URL')
  const keyFile = keyFileOf(io, options)
  if (readKeyFile(keyFile)) {
    throw new UsageError(`${keyFile} holds the key of an agent already: name another --key-file for this one`)
  }
  const { apiKey: _, ...agent } = await keeping(io, keyFile, async () => {
    const registered = await registerAgent({ url: checked(url) }, name)
    return { ...registered, url: rootOf(url) }
  })
  print({ agent, keyFile }, () => `Registered as ${printable(agent.name)}; the key is in ${keyFile}\n`)
  return exitCodes.fine
}

/** Requests a key and stores it. The file is reserved first, so that no key is lost. */
async function keeping<T extends HubAccess>(io: Io, keyFile: string, ask: () => Promise<T>): Promise<T> {
  const file = reserveKeyFile(keyFile)
  const asking = removedIfEnded(io, { paths: [file.temporary], told: 'no key was kept' }, ask)
  const access = await asking.catch((error: unknown) => {
    file.drop()
    throw error
  })
  file.keep(access)
  return access
}

/** @throws UsageError unless it is the address of a web server */
function checked(url: string): string {
  if (/^https?:\/\/[^/]/.test(url) && URL.canParse(url)) return url
  throw new UsageError(`the address of a hub looks like https://recall.example.org, not '${url}'`)
}

async function save({ io, hub, options, print }: Call, content: string): Promise<undefined> {
  const tags = splitTags(options.tags)
  if (tags.length === 0)
    throw new UsageError('say what it is about, in 2 to 6 words: --tags redis,rate-limit')
  const given = { content, tags, ...(options.source ? { source_url: options.source } : {}) }
  const saved = await hub.save(redactedForHub(io, given))
  print(saved, () => describeSaved('Saved', saved))
}

async function search({ io, hub, options, print }: Call, given: string): Promise<number> {
  const { question } = redactedForHub(io, { question: given })
  const results = await hub.search(question, { limit: options.limit, explain: options.explain })
  print({ question, results }, () =>
    results.length > 0
      ? results.map((memory) => shown(io, memory, memory)).join('\n')
      : 'Nobody on this hub has learned anything like it.\n',
  )
  return results.length > 0 ? exitCodes.fine : exitCodes.no
}

/** Redacts before sending: the hub redacts what it keeps, but a secret should not travel that far. */
function redactedForHub<Given extends JsonObject>(io: Io, given: Given): Given {
  const { value, counts } = redactJson(given)
  if (Object.keys(counts).length > 0)
    io.err(`recall: secrets replaced before anything was sent: ${formatCounts(counts)}\n`)
  return value as Given
}

async function rotateKey({ io, hub, access, print }: Call): Promise<undefined> {
  const { url, keyFile } = access
  if (keyFile === null) {
    // The key comes from a variable, so the user has to store the new one.
    const apiKey = await hub.rotateKey()
    print({ url, apiKey }, () => printable(`${apiKey}\n`))
    return
  }
  await withKeyLocked(keyFile, async () => {
    // Another process may have replaced it meanwhile.
    const present = connectHub({ url, apiKey: readKeyFile(keyFile)?.apiKey ?? access.apiKey })
    const ask = async (): Promise<HubAccess> => ({ url, apiKey: await present.rotateKey() })
    const renewed = connectHub(await keeping(io, keyFile, ask).finally(() => present.close()))
    // The first use of the new key invalidates the old one.
    await renewed.whoami().finally(() => renewed.close())
  })
  print({ url, keyFile }, () => `The new key is in ${keyFile}\n`)
}

interface Shown {
  short_id: string
  content: string
  tags: string[]
  source_url: string | null
  author: { name: string }
}

type Ranked = Pick<FoundMemory, 'similarity' | 'signals'>

const indented = (text: string): string => text.replace(/^/gm, '  ')

/**
 * Formats a memory that others wrote, without characters that move the cursor or hide text. Indented, no line of it can
 * be taken for another memory.
 */
function shown(io: Io, { short_id, content, tags, source_url, author }: Shown, ranked?: Ranked): string {
  const colour = paint(io)
  const near = ranked ? ` · ${ranked.similarity.toFixed(2)}` : ''
  const why = ranked?.signals ? `${colour.dim(printable(formatSignals(ranked.signals)))}\n` : ''
  const facts = `${printable(author.name)}${near} · ${tags.map(printable).join(', ')}`
  const source = source_url ? `${colour.dim(printable(source_url))}\n` : ''
  return `${colour.bold(printable(short_id))} · ${facts}\n${why}${indented(printable(content))}\n${source}`
}
