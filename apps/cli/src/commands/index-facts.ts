import type { MemoryStatus } from '@recall/store-file'
import type { RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'
import { withStore } from '../with-store.ts'

/** The state of an index that has to be opened first. */
export const indexFacts = (io: Io, options: RootOptions): Promise<MemoryStatus['index']> =>
  withStore(io, options, (store) => ({ fresh: true, documents: store.index.fresh().countDocuments() }))
