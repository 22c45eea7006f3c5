/** Nobody ever wakes a waiter: the operating system does not tell when a lock or a database is free. */
const nobody = new Int32Array(new SharedArrayBuffer(4))

/** Stops the whole thread for some milliseconds. */
export const pause = (ms: number): void => void Atomics.wait(nobody, 0, 0, ms)
