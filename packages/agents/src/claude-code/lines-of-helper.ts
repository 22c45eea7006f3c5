import type { TranscriptLine } from './transcript-line.ts'

/** Helpers that the host starts to keep notes of a session, or to guess what the person types next. */
const ownHelper = /^a(?:session_memory|prompt_suggestion)-/

/** Helpers whose transcript may begin with a copy of the whole session, and how to recognise their own request. */
const copying = [
  // The summary of a session that grew too long is worth keeping, but not the host's instructions for it.
  { agentId: /^acompact-/, request: /\bYour task is to create a detailed summary\b/, isHosts: true },
  // A side question to the session (`/btw`).
  { agentId: /^aside_question-/, request: /<system-reminder>[^<]*\bside question\b/, isHosts: false },
]

/** What older versions of the host sent to each kind of helper to warm it up. */
const warmUp = /^(?:"Warmup"|\[\{"type":"text","text":"Warmup"\}\])$/

/**
 * Returns a function that tells which lines of a helper's transcript were neither asked of it by a person or an agent
 * nor said by it. Call it for all lines, in order.
 */
export function createForeignLineFilter(agentId: string): (line: TranscriptLine) => boolean {
  if (ownHelper.test(agentId)) return () => true
  const copier = copying.find((kind) => kind.agentId.test(agentId))
  return copier ? untilRequest(copier) : ifWarmUp()
}

function untilRequest({ request, isHosts }: { request: RegExp; isHosts: boolean }) {
  let isCopied = true
  return (line: TranscriptLine): boolean => {
    const isRequest = request.test(askedIn(line))
    if (isRequest) isCopied = false
    return isCopied || (isRequest && isHosts)
  }
}

function ifWarmUp() {
  let isWarmUp: boolean | undefined
  return (line: TranscriptLine): boolean => {
    if (line.type === 'user') isWarmUp ??= warmUp.test(askedIn(line))
    return isWarmUp === true
  }
}

const askedIn = ({ type, message }: TranscriptLine): string =>
  type === 'user' ? JSON.stringify(message?.content ?? '') : ''
