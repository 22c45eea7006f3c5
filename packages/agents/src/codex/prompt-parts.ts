import type { ContentBlock } from '@recall/core'
import { isRecord } from '../json.ts'
import { toContentBlocks, toResultText } from '../reading/content-blocks.ts'
import type { Skip } from '../reading/skipped.ts'
import { requestIn } from './request-in-text.ts'

/** Text that the host inserts into the first user messages; nobody typed it. */
const injected =
  /^\s*(?:<(?:environment_context|user_instructions|permissions|turn_aborted|skill|recommended_plugins|app-context)\b|# AGENTS\.md instructions)/

/** Kinds of parts that the host itself puts into a message. */
const madeByHost = /^(?:agents_md|environments|hooks|host_skills|permissions|skills?)\./

/** What the host says in a person's place: answers of helpers, why a hook lets a turn go on, the current goal. */
const saidByHost =
  /^\s*(?:<(?:subagent_notification|hook_prompt|codex_internal_context|goal_context|external_\w+)\b|Warning: (?:The maximum number of unified exec processes you can|apply_patch was requested via |Your account was flagged for potentially))/i
/** Kinds of parts that a person may have typed; an unknown newer kind counts as the host's. */
const typedKind = /^(?:user[._]|images\.|audio\.|unknown$|$)/

export interface PromptParts {
  /** What the person typed. */
  typed: ContentBlock[]
  /** What the host said in the person's place; empty when it said nothing. */
  saidByHost: string
}

/** Separates the parts of a message that the host gives to the model as the person's. */
export function readPromptParts(payload: Record<string, unknown>, skip: Skip): PromptParts {
  const parts = partsOf(payload)
  return {
    typed: contentOf(
      parts.filter((part, index) => isTyped(part) && !isImageTag(parts, index)).map(withRequestAlone),
      skip,
    ),
    saidByHost: toResultText(
      contentOf(
        parts.filter((part) => isSaid(part) && !isTyped(part)),
        () => {},
      ),
    ),
  }
}

interface Part {
  part: unknown
  text: string
  /** Newer versions give it; empty for older ones. */
  kind: string
}

function partsOf({
  content,
  internal_chat_message_metadata_passthrough: about,
}: Record<string, unknown>): Part[] {
  const kinds = isRecord(about) && Array.isArray(about.content_item_kinds) ? about.content_item_kinds : []
  const parts: unknown[] = Array.isArray(content) ? content : typeof content === 'string' ? [content] : []
  return parts.map((part, index) => {
    const text = isRecord(part) ? part.text : part
    return { part, text: typeof text === 'string' ? text : '', kind: String(kinds[index] ?? '') }
  })
}

const contentOf = (parts: readonly Part[], skip: Skip): ContentBlock[] =>
  toContentBlocks(
    parts.map(({ part }) => part),
    skip,
  )

/** Whether a part says something: to a person's words, the host adds what surrounds them. */
const isSaid = ({ text, kind }: Part): boolean =>
  !madeByHost.test(kind) && !injected.test(text) && (text === '' || requestIn(text) !== '')

const isTyped = (each: Part): boolean =>
  each.kind.startsWith('user.') || (isSaid(each) && typedKind.test(each.kind) && !saidByHost.test(each.text))

function withRequestAlone({ part, text, kind }: Part): Part {
  if (text === '') return { part, text, kind }
  const request = requestIn(text)
  return { part: isRecord(part) ? { ...part, text: request } : request, text: request, kind }
}

/** The host puts a tag before and after each image, with its name and path. */
function isImageTag(parts: readonly Part[], index: number): boolean {
  const isImage = (at: number): boolean => {
    const part = parts[at]?.part
    return isRecord(part) && part.type === 'input_image'
  }
  const text = parts[index]?.text ?? ''
  return (/^<image\b[^>]*>$/.test(text) && isImage(index + 1)) || (text === '</image>' && isImage(index - 1))
}
