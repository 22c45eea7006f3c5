export { createFolder } from './create-folder.ts'
export { syncFile, syncFolder, writeNewFile } from './durable-files.ts'
export { causeOf, errorCode, orAbsent, writing } from './file-errors.ts'
export { refusesHardLinks } from './hard-links.ts'
export {
  hasEnded,
  identityOf,
  isGone,
  longestElsewhereMs,
  type ProcessIdentity,
  thisProcess,
} from './identity.ts'
export { pause } from './pause.ts'
export { renamePatiently } from './rename-patiently.ts'
