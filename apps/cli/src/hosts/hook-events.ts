import type { HookEvent } from '@recall/agents'

/** Each of them once: the types of the hosts are known without loading what wires them. */
const events: Record<HookEvent | 'drain', true> = {
  'session-start': true,
  'turn-start': true,
  prompt: true,
  'pre-compact': true,
  'post-compact': true,
  'session-end': true,
  stop: true,
  drain: true,
}

/** What agents call `recall hook` for, and `drain`, with which the hooks start a process that archives. */
export const hookEvents: readonly string[] = Object.keys(events)
