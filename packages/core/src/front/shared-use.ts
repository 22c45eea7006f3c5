interface Closable {
  close?(): Promise<void>
}

const uses = new WeakMap<Closable, number>()

/** Counts a memory that uses a store or an embedder. */
export const hold = (used: Closable): void => void uses.set(used, (uses.get(used) ?? 0) + 1)

/** Undoes `hold`. Only the last user closes it, because others may still be at work. */
export async function release(used: Closable): Promise<void> {
  const left = (uses.get(used) ?? 1) - 1
  uses.set(used, left)
  if (left === 0) await used.close?.()
}
