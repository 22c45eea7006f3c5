import { defaultFileSystem, type Layout, type ReadConfig, readConfig } from '@recall/store-file'

/** A separate module: most memories have no settings file, and then no parser is loaded. */
export const readSettings = (root: string, layout: Layout): ReadConfig =>
  readConfig(defaultFileSystem, root, layout)
