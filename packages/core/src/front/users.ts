interface Closable {
  close?(): Promise<void>
}

const users = new WeakMap<Closable, number>()

/** Counts a memory that uses a store or an embedder. */
export const hold = (used: Closable): void => void users.set(used, (users.get(used) ?? 0) + 1)

/** Takes that back. The last to close closes it: others may be at work in it. */
export async function release(used: Closable): Promise<void> {
  const left = (users.get(used) ?? 1) - 1
  users.set(used, left)
  if (left === 0) await used.close?.()
}
