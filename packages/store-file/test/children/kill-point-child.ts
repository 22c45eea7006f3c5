import { killingFileSystem } from '../support/faulty-file-system.ts'
import { openAt, operations } from '../support/operations.ts'

/** Runs one operation and is killed before its k-th mutating call. */
const [root = '', name = '', k = '1'] = process.argv.slice(2)
const opened = await openAt(root, killingFileSystem(Number(k)).fileSystem)
await operations.find((each) => each.name === name)?.run(opened)
process.exit(0)
