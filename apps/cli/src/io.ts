/** The world as a command sees it, so that tests can run commands without a process. */
export interface Io {
  /** Results. */
  out(text: string): void
  /** Talk: progress, notices, errors. */
  err(text: string): void
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  home: string
  now: () => number
  /** Whether results go to a person's screen. */
  terminal: boolean
  /** Whether talk goes to a person's screen. */
  talkTerminal: boolean
  columns: number
  /** How this command is started by others; `['recall']` unless it says. */
  self?: readonly string[]
  /** What a host hands over on standard input: one JSON value, or all there is; bounded in size and time. */
  payload?(): Promise<string>
  /** Everything on standard input, however long its writer takes; empty where a person sits. */
  text?(): Promise<string>
  /** Starts this command once more, on its own: it goes on when we and whoever started us are gone. */
  detach?(argv: readonly string[]): void
  /** Asks the person at the terminal; `null` where nobody can answer. */
  ask(question: string): Promise<string | null>
}
