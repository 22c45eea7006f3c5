import type { ContentBlock } from '@recall/core'

/**
 * Stands for a summary with which the host compacted the session: its content is in the session already. Without it a
 * session would have fewer messages than in archives for which the summary was read, and count as another one.
 */
export const compacted: ContentBlock = { type: 'tool_result', toolUseId: '', content: '[compacted]' }
