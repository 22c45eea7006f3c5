import type { MemoryStatus } from '@recall/store-file'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** What the index holds, of one that has to be opened to know. */
export const indexFacts = (io: Io, options: RootOptions): Promise<MemoryStatus['index']> =>
  withStore(io, options, (store) => ({ fresh: true, documents: store.index.fresh().countDocuments() }))
