// Separate from the parser, so that a memory without settings does not load one.

/** Settings of `.recall-echo.toml`. */
export interface FileMemoryConfig {
  ephemeral: {
    /** Sessions that the rolling window keeps, 1..50. */
    maxEntries: number
  }
}

export const defaultConfig: FileMemoryConfig = { ephemeral: { maxEntries: 5 } }

export interface ReadConfig {
  config: FileMemoryConfig
  /** What is wrong with the file; the defaults replace values that make no sense. */
  problem?: string
}
