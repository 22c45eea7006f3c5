import { writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import {
  type Conversation,
  isMemoryError,
  type JsonValue,
  type LmProvider,
  MemoryError,
  MemoryErrorCode,
  type MemoryManager,
  type Message,
} from '@recall/core'
import { createFolder } from '@recall/core/process'
import { isRecord } from '../json.ts'
import { toContentBlocks } from '../reading/content-blocks.ts'
import { createMessageIds } from '../reading/message-ids.ts'
import { saidAt } from '../reading/messages.ts'
import { countInto } from '../reading/skipped.ts'

/** What the host passes to its plugins. */
export interface PluginContext {
  entityRoot: string
  entityName: string
  /** Writes summaries. An algorithm does so if it is missing, has another shape, or fails. */
  provider?: LmProvider | undefined
}

export type HealthStatus =
  | { status: 'healthy' }
  | { status: 'degraded'; reason: string }
  | { status: 'down'; reason: string }

export interface SetupPrompt {
  key: string
  question: string
  required: boolean
  secret: boolean
  default?: string
}

/** A message as the host keeps it. */
export interface HostMessage {
  id?: string | undefined
  role: 'user' | 'assistant'
  /** A text, or blocks: text, tool use, tool result. */
  content: string | readonly unknown[]
  timestamp?: string | undefined
}

/** A session to archive, or to checkpoint while it continues. */
export interface HostSession {
  sessionId: string
  messages: readonly HostMessage[]
}

/** What the plugin is composed of: a way to open the memory, and the functions of `@recall/sessions`. */
export interface PluginParts {
  version?: string | undefined
  /** Opens the memory below an entity's root, and creates it when there is none. */
  open(entityRoot: string): Promise<MemoryManager>
  archiveSession: ConversationArchiver
  createCheckpoint: ConversationArchiver
  /** The state of the memory below an entity's root, and its settings; read again on each call. */
  inspect(entityRoot: string): InspectedMemory
}

export interface InspectedMemory {
  health: 'healthy' | 'degraded' | 'down'
  /** Empty when healthy. */
  reason: string
  /** Where things lie, relative to the root. */
  layout: { curated: string; archives: string }
  /** How many sessions the rolling window holds. */
  maxEntries: number
}

export type ConversationArchiver = (
  memory: MemoryManager,
  conversation: Conversation,
  options: { lm?: LmProvider; maxEntries?: number },
) => Promise<ArchiveReceipt>

export interface ArchiveReceipt {
  status: 'archived' | 'updated' | 'unchanged' | 'empty'
  parts: readonly { key: string }[]
}

/** The memory of one entity. It adds no tools, no tasks and no routes. */
export interface MemoryPlugin extends AsyncDisposable {
  readonly role: 'memory'
  meta(): { name: string; version: string; description: string }
  health(): HealthStatus
  setupPrompts(): SetupPrompt[]
  /** Archives a session that has ended and adds it to the window. Idempotent. */
  archiveSession(session: HostSession): Promise<ArchiveReceipt>
  /** Saves a session that continues; the window does not change. */
  createCheckpoint(session: HostSession): Promise<ArchiveReceipt>
  close(): Promise<void>
}

/** The plugin as the host loads it: a factory that takes its configuration and its context. */
export function memoryPlugin(parts: PluginParts): {
  create(config: JsonValue, context: PluginContext): Promise<MemoryPlugin>
} {
  return { create: (config, context) => create(config, context, parts) }
}

/**
 * Creates a plugin that is ready for use, without a second step: missing parts of the memory are created.
 *
 * @param config may name an `entity_root`. Default: the context's
 * @throws MemoryError INVALID_INPUT when neither names a folder, and whatever opening the memory throws
 */
async function create(config: JsonValue, context: PluginContext, parts: PluginParts): Promise<MemoryPlugin> {
  const root = rootOf(entityRootIn(config) ?? context.entityRoot)
  const memory = await parts.open(root)
  try {
    createMissing(root, parts.inspect(root))
  } catch (error) {
    await memory.close()
    throw error
  }
  const archiveOptions = () => ({
    ...(typeof context.provider?.complete === 'function' ? { lm: context.provider } : {}),
    maxEntries: parts.inspect(root).maxEntries,
  })

  return {
    role: 'memory',
    meta: () => ({
      name: 'recall-echo',
      version: parts.version ?? '0.0.0',
      description: 'Persistent three-layer memory: curated facts, recent sessions, searchable archives',
    }),
    health: () => healthOf(root, parts),
    setupPrompts: () => [
      {
        key: 'entity_root',
        question: 'Folder of the entity whose memory this is',
        required: false,
        secret: false,
        default: context.entityRoot,
      },
    ],
    archiveSession: async (session) =>
      parts.archiveSession(memory, toConversation(session), archiveOptions()),
    createCheckpoint: async (session) =>
      parts.createCheckpoint(memory, toConversation(session), archiveOptions()),
    close: () => memory.close(),
    [Symbol.asyncDispose]: () => memory.close(),
  }
}

function entityRootIn(config: JsonValue): string | undefined {
  const root = isRecord(config) ? config.entity_root : undefined
  if (root === undefined || root === null || typeof root === 'string') return root || undefined
  throw invalid('entity_root must be the path of a folder')
}

function rootOf(folder: string): string {
  if (!folder)
    throw invalid('neither the configuration has an entity_root, nor the context an entityRoot: name one')
  // It would become a folder of that name in the current one.
  if (/^~(?:[/\\]|$)/.test(folder))
    throw invalid('~ means the home folder only where a shell reads it: write the path in full')
  return resolve(folder)
}

const invalid = (message: string): MemoryError => new MemoryError(message, MemoryErrorCode.INVALID_INPUT)

/** Creates the curated file and the folder of archives if they are missing. */
function createMissing(root: string, { layout: { curated, archives } }: InspectedMemory): void {
  for (const folder of [dirname(curated), archives]) createFolder(join(root, folder), 0o700)
  try {
    writeFileSync(join(root, curated), '# Memory\n', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

/** Looks at the files on each call, as they may have been moved since. */
function healthOf(root: string, parts: PluginParts): HealthStatus {
  try {
    const { health, reason } = parts.inspect(root)
    return health === 'healthy' ? { status: health } : { status: health, reason }
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return { status: 'down', reason: error.message }
  }
}

function toConversation(session: HostSession): Conversation {
  checkSession(session)
  const { sessionId, messages } = session
  const skipped: Record<string, number> = {}
  const skip = countInto(skipped)
  const idOf = createMessageIds()
  return {
    sessionId,
    facts: { skipped },
    messages: messages.flatMap(({ id, role, content, timestamp }) => {
      const name = idOf([role, content])
      const blocks = toContentBlocks(content, skip)
      const rest = { id: id ?? name, ...saidAt(timestamp) }
      // Tool results arrive in the user's turns, but nobody said them.
      const results = role === 'user' ? blocks.filter(({ type }) => type !== 'text') : []
      const said = role === 'user' ? blocks.filter(({ type }) => type === 'text') : blocks
      const turns: Message[] = [
        ...(results.length > 0
          ? [{ ...rest, id: `${rest.id}#results`, role: 'assistant' as const, content: results }]
          : []),
        ...(said.length > 0 ? [{ ...rest, role, content: said }] : []),
      ]
      return turns
    }),
  }
}

/** @throws MemoryError INVALID_INPUT, as the host may hand over what its types do not allow */
function checkSession(session: unknown): void {
  if (!isRecord(session)) throw invalid('a session must be an object with its sessionId and its messages')
  if (!Array.isArray(session.messages)) throw invalid('the messages of a session must be a list')
  const wrong = session.messages.findIndex((message) => !isRecord(message))
  if (wrong !== -1)
    throw invalid(`message ${wrong + 1} of the session must be an object with role and content`)
}
