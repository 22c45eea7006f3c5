import fs, { readFileSync } from 'node:fs'
import { openPglite } from '../../src/pglite.ts'

/** Makes an embedded database, and is killed when it has begun so many files of it. */
const [folder = '', files, dump] = process.argv.slice(2)
const { openSync } = fs
let left = Number(files)
fs.openSync = (path, ...how) => {
  if (how[0] === 'w' && String(path).startsWith(folder) && --left === 0) process.kill(process.pid, 'SIGKILL')
  return openSync(path, ...how)
}
await openPglite({ folder, ...(dump ? { template: new Blob([readFileSync(dump)]) } : {}) })
