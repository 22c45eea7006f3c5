import { outputBlock } from './messages.ts'

/**
 * Stands for a summary with which the host compacted the session: its content is in the session already. Without it a
 * session would have fewer messages than in archives for which the summary was read, and count as another one.
 */
export const compacted = outputBlock('[compacted]')
