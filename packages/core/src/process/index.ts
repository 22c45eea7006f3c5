export { createFolder } from './create-folder.ts'
export { identityOf, isGone, longestElsewhereMs, type ProcessIdentity, thisProcess } from './identity.ts'
export { pause } from './pause.ts'
export { renamePatiently } from './rename-patiently.ts'
