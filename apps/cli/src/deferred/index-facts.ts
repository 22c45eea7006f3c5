import type { MemoryStatus } from '@recall/store-file'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import type { Io } from '../terminal/io.ts'

/** The state of an index that has to be opened first. */
export const indexFacts = (io: Io, options: RootOptions): Promise<MemoryStatus['index']> =>
  withStore(io, options, (store) => ({ fresh: true, documents: store.index.fresh().countDocuments() }))
