export { readConfig, setConfig, settingNames } from './config.ts'
export { curatedFiles } from './curated-files.ts'
export { defaultConfig, type FileMemoryConfig, type ReadConfig } from './default-config.ts'
export { type CheckUpOptions, checkUp, type Finding } from './doctor.ts'
export { archiveIndexHeader } from './documents/archive-index.ts'
export { archiveKeysIn } from './documents/conversation.ts'
export { openingOf } from './documents/opening.ts'
export type { FileStore } from './file-store.ts'
export type { FileStamp } from './files/file-stamp.ts'
export { defaultFileSystem, type FileSystem } from './files/file-system.ts'
export { readBeginning, readText, type TextFile } from './files/read-text.ts'
export { writeInternal } from './internal-files.ts'
export { layoutOf, layoutsOf } from './layout/find-layout.ts'
export { type Layout, layouts } from './layout/layout.ts'
export { layoutFile, type OwnLayout, readLayoutFile } from './layout/layout-file.ts'
export {
  type FileMemoryOptions,
  type FileStoreSettings,
  openFileMemory,
  openFileStore,
} from './open-file-memory.ts'
export { type ScrubbableStore, type ScrubbedFile, scrubFiles } from './scrub.ts'
export type { Redact } from './scrub-archive.ts'
export { archivedNamespaces } from './scrub-archive.ts'
export type { LocatedHit, LocateQuery } from './search/file-search.ts'
export type { Passage, PlacedPassage } from './search/passages.ts'
export type { IndexProgress, MemoryIndex } from './search-index/memory-index.ts'
export {
  type MemoryStatus,
  memoryLineLimit,
  type RecentArchive,
  readStatus,
  type StatusAsRead,
} from './status.ts'
export { addTombstones, liftTombstones, readTombstones } from './tombstones.ts'
export { hasUnreadableVectors, keptModel } from './vectors/kept-model.ts'
export { createMeaningArm, type MeaningArm, type VectorPlaces } from './vectors/meaning-arm.ts'
export type { Coverage, EmbedProgress, RefusedPassages } from './vectors/missing-vectors.ts'
export type { Question } from './vectors/scanned-rows.ts'
export { openVectorFile, type VectorFile } from './vectors/vector-file.ts'
export type { VectorSpace } from './vectors/vector-format.ts'
export type { VectorIndex } from './vectors/vector-index.ts'
