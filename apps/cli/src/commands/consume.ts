import { join } from 'node:path'
import { clearWindow, consumeWindow } from '@recall/sessions'
import { defaultFileSystem, readText } from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import { type RootOptions, withRoot } from '../memory/find-root.ts'
import { withMemory } from '../memory/with-memory.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { createRedaction } from '../terminal/redaction.ts'

/** Prints the file of the window and, with `clear`, removes what was printed. */
export async function consume(
  io: Io,
  given: string | undefined,
  options: RootOptions & { json?: boolean; clear?: boolean },
): Promise<number> {
  return withMemory(io, withRoot(io, given, options), async (memory, { root, layout }) => {
    const { text, entries, notes } = await consumeWindow(memory)
    const file = readText(defaultFileSystem, join(root, layout.window))
    const { redact, tell } = createRedaction(io)
    if (options.json) {
      const told = {
        entries: entries.map(({ summary, project, ...entry }) => ({
          ...entry,
          summary: redact(summary),
          ...(project === undefined ? {} : { project: redact(project) }),
        })),
        ...(notes ? { notes: redact(notes) } : {}),
        cleared: options.clear ?? false,
      }
      io.out(`${JSON.stringify(told)}\n`)
    } else if (text === '') io.out('The window is empty.\n')
    else {
      const shown = redact(file?.content.trim() ?? text)
      io.out(`${io.isTerminal ? printable(shown) : shown}\n`)
    }
    tell()
    // Print before clearing: a crash in between shows the window twice rather than never.
    if (!options.clear) return exitCodes.fine
    if (!(await io.outputDelivered())) {
      io.err('recall: the window stays as it was: nobody read what was printed\n')
      return exitCodes.failed
    }
    await clearWindow(memory, { entries, notes }, { clock: io.now })
    return exitCodes.fine
  })
}
