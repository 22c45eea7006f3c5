interface Closable {
  close?(): Promise<void>
}

const uses = new WeakMap<Closable, number>()

/** Counts a memory that uses a store or an embedder. */
export const hold = (used: Closable): void => void uses.set(used, (uses.get(used) ?? 0) + 1)

/** Takes that back. The last to close closes it: others may be at work in it. */
export async function release(used: Closable): Promise<void> {
  const left = (uses.get(used) ?? 1) - 1
  uses.set(used, left)
  if (left === 0) await used.close?.()
}
