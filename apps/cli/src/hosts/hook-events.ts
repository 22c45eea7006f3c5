/** What agents call `recall hook` for, and `drain`, with which the hooks start a process that archives. */
export const hookEvents = [
  'session-start',
  'turn-start',
  'prompt',
  'pre-compact',
  'post-compact',
  'session-end',
  'stop',
  'drain',
]
