import type { HookEvent } from '@recall/agents'

/** A record, so that each occurs once: the hosts' types are known without loading the code that wires them. */
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

/** The events for which agents call `recall hook`, and `drain`, with which the hooks start a process that archives. */
export const hookEvents: readonly string[] = Object.keys(events)
