/** The four memory scopes, from the shortest-lived to the longest-lived. */
export const memoryScopes = ['working', 'short-term', 'long-term', 'episodic'] as const

/**
 * - `working`: one loop iteration, cleared when it ends
 * - `short-term`: one session, expires (1 hour unless said otherwise, sliding on access)
 * - `long-term`: what was learned, kept until deleted
 * - `episodic`: what happened, kept and archivable
 */
export type MemoryScope = (typeof memoryScopes)[number]
