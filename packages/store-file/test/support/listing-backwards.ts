import { defaultFileSystem, type FileSystem } from '../../src/files/file-system.ts'

/** A disk that lists the names of a folder in an order of its own. */
export const listingBackwards: FileSystem = {
  ...defaultFileSystem,
  readdirSync: ((...given: Parameters<typeof defaultFileSystem.readdirSync>) =>
    defaultFileSystem
      .readdirSync(...given)
      .sort()
      .reverse()) as FileSystem['readdirSync'],
}
