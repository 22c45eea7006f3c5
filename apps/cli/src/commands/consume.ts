import { consumeWindow } from '@recall/sessions'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withMemory } from '../memory.ts'

/** Prints the window and, when asked, empties it. */
export async function consume(
  io: Io,
  given: string | undefined,
  options: RootOptions & { json?: boolean; clear?: boolean },
): Promise<undefined> {
  return withMemory(io, given ? { ...options, root: given } : options, async (memory) => {
    const { text, entries } = await consumeWindow(memory, { clear: options.clear ?? false, clock: io.now })
    if (options.json) io.out(`${JSON.stringify({ entries, cleared: options.clear ?? false })}\n`)
    else io.out(text === '' ? 'The window is empty.\n' : text)
    return undefined
  })
}
