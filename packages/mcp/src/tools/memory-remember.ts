import type { McpServer } from '@modelcontextprotocol/server'
import { isMemoryError, MemoryError, MemoryErrorCode, type MemoryManager, redactText } from '@recall/core'
import { updateEntry } from '@recall/core/protocol'
import { shortDigest } from '@recall/core/text'
import * as z from 'zod'
import type { McpOptions } from '../options.ts'
import { answer, orFailure, secretsReplaced, withoutSecrets } from './answer.ts'
import { key, scope } from './stored-memory.ts'

export function addRemember(server: McpServer, { memory }: McpOptions): void {
  server.registerTool(
    'memory_remember',
    {
      title: 'Remember',
      description:
        'Keeps one confirmed fact, preference or decision for later sessions. Write it so that it can be understood alone: who, what, why. Secrets are replaced before anything is stored.',
      inputSchema: z.strictObject({
        text: z.string().min(1).max(20_000).regex(/\S/, 'must hold a word'),
        key: key.optional().describe('a name to find it by; made from the text when absent'),
        tags: z.array(z.string().min(1).max(80)).max(20).default([]),
        replace: z.boolean().default(false).describe('overwrite the value of the key'),
      }),
      outputSchema: z.object({
        key: z.string(),
        scope,
        remembered: z.boolean(),
        warnings: z
          .array(z.string())
          .optional()
          .describe('what was stored differently from these words: tell the user'),
      }),
      annotations: {
        readOnlyHint: false,
        // With `replace` it overwrites.
        destructiveHint: true,
        idempotentHint: true,
        openWorldHint: false,
      },
    },
    ({ text, key: given, tags, replace }) =>
      orFailure(async () => {
        const name = given ?? (await noteKey(withoutSecrets(text).trim()))
        if (given === undefined) await keepNote(memory, name, { text, tags, replace })
        else await keepUnder(memory, name, { text, tags, replace })
        const warnings = await whatWasReplaced(memory, name, text)
        return answer({
          key: name,
          scope: 'long-term',
          remembered: true,
          ...(warnings.length > 0 ? { warnings } : {}),
        })
      }),
  )
}

/** A memory keeps secrets if it was opened that way. */
async function whatWasReplaced(memory: MemoryManager, name: string, text: string): Promise<string[]> {
  const { counts } = redactText(text)
  if (Object.keys(counts).length === 0 || (await memory.read('long-term', name)) === text) return []
  return secretsReplaced(counts, 'stored')
}

interface Remembered {
  text: string
  tags: string[]
  replace: boolean
}

/** The same text is one memory, with all the tags it ever got. If somebody has edited it since, it is another text. */
async function keepNote(
  memory: MemoryManager,
  name: string,
  { text, tags, replace }: Remembered,
): Promise<void> {
  await updateEntry<unknown>(memory, 'long-term', name, (known, metadata) => {
    if (metadata && !replace && !isSameText(known, text)) {
      throw new MemoryError(
        `'${name}' was changed since it was remembered: read it, and set replace to true to overwrite it`,
        MemoryErrorCode.INVALID_INPUT,
      )
    }
    return { value: text, tags: [...new Set([...(metadata?.tags ?? []), ...tags])] }
  })
}

/** Whether a value is the text, as given or as stored. */
const isSameText = (known: unknown, text: string): boolean =>
  typeof known === 'string' && [text, withoutSecrets(text)].some((each) => each.trim() === known.trim())

async function keepUnder(memory: MemoryManager, name: string, remembered: Remembered): Promise<void> {
  const { text, tags, replace } = remembered
  await memory.write('long-term', name, text, { tags, overwrite: replace }).catch(async (cause) => {
    if (replace || !isMemoryError(cause, MemoryErrorCode.CONFLICT)) throw cause
    // Hosts may repeat a call if they did not get its answer.
    if (await isKept(memory, name, remembered)) return
    throw new MemoryError(
      `'${name}' already exists: choose another key, or set replace to true to overwrite it`,
      MemoryErrorCode.INVALID_INPUT,
      { cause },
    )
  })
}

async function isKept(memory: MemoryManager, name: string, { text, tags }: Remembered): Promise<boolean> {
  const known = await memory.read('long-term', name, { includeMetadata: true })
  return (
    known !== null && isSameText(known.value, text) && tags.every((tag) => known.metadata.tags.includes(tag))
  )
}

/** A hash of a text with a secret in it would confirm a guess at the secret. */
const noteKey = async (text: string): Promise<string> => `note:${await shortDigest(text)}`
