/** What a command sees of the outside world, so that tests can run commands without a process. */
export interface Io {
  /** Prints results, on standard output. */
  out(text: string): void
  /** Waits until the output is handed over; false when its reader did not take all of it. */
  outputDelivered(): Promise<boolean>
  /** Prints progress, notices and errors, on standard error. */
  err(text: string): void
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  now: () => number
  /** Waits for this many milliseconds. Default: by a timer. */
  pause?(ms: number): Promise<void>
  /** Whether standard output is a terminal. */
  isTerminal: boolean
  /** Whether standard error is a terminal. */
  isErrorTerminal: boolean
  columns: number
  /** The command that others start to run this program. Default: `['recall']`. */
  ownCommand?: readonly string[]
  /** The payload of a host on standard input: one JSON value, or everything up to a limit of size and time. */
  readPayload?(): Promise<string>
  /** Everything on standard input, however long it takes; empty when that is a terminal. */
  readText?(): Promise<string>
  /** Starts this program in a detached process, which outlives this one and its parent. */
  detach?(argv: readonly string[]): void
  /** Asks the person at the terminal; `null` without one. */
  ask(question: string): Promise<string | null>
}
