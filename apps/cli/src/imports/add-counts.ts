/** Adds how often each kind was met to what was met before. */
export function addCounts(total: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [kind, n] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + n
}
