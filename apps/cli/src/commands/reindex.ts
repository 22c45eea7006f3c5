import type { RootOptions } from '../find-root.ts'
import { count } from '../format.ts'
import type { Io } from '../io.ts'
import { progressBar } from '../progress.ts'
import { withStore } from '../with-store.ts'

export async function reindex(
  io: Io,
  options: RootOptions & { json?: boolean; full?: boolean },
): Promise<undefined> {
  return withStore(io, options, async (store) => {
    const started = performance.now()
    const bar = await progressBar(io, 'indexing')
    store.reindex({ full: options.full ?? false, onProgress: bar.update })
    bar.stop()
    const documents = store.index.asIs().countDocuments()
    const tookMs = Math.round(performance.now() - started)
    if (options.json) io.out(`${JSON.stringify({ documents, tookMs })}\n`)
    else io.out(`${count(documents, 'entry').replace('entrys', 'entries')} indexed in ${tookMs} ms\n`)
    return undefined
  })
}
