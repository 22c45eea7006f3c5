import { defaultFileSystem, type Layout, type ReadConfig, readConfig } from '@recall/store-file'

/** A module of its own, because most memories have no settings file and then need no parser. */
export const readSettings = (root: string, layout: Layout): ReadConfig =>
  readConfig(defaultFileSystem, root, layout)
