import { defaultFileSystem } from '../../src/files/file-system.ts'
import { createLock } from '../../src/lock.ts'
import { loadSqlite } from '../../src/sqlite/driver.ts'

/** Takes the lock and never lets go. */
const lock = createLock(defaultFileSystem, await loadSqlite(), process.argv[2] as string)
lock.hold(() => {
  process.send?.('held')
  // Blocks this thread for good, as a hanging section would.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
})
