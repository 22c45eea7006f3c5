import { demo } from './commands/demo.ts'
import { processIo } from './process-io.ts'
import { run } from './run.ts'

/** `recall demo` from the sources, with hints for people who have nothing installed. */
process.exitCode = await demo(processIo(), run, 'npx pnpm@10.34.9 -s recall')
