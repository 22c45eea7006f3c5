/** Nothing ever wakes a waiter: the operating system does not report when a lock or a database becomes free. */
const nobody = new Int32Array(new SharedArrayBuffer(4))

/** Blocks the whole thread for `ms` milliseconds. */
export const pause = (ms: number): void => void Atomics.wait(nobody, 0, 0, ms)
