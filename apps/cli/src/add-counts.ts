/** Adds the counts of each kind to the total. */
export function addCounts(total: Record<string, number>, more: Readonly<Record<string, number>>): void {
  for (const [kind, n] of Object.entries(more)) total[kind] = (total[kind] ?? 0) + n
}
