/** What is known of a session in a file of many before it is read. */
export interface ListedSession {
  /** Changes whenever a character of the session changes; absent when only the file's state is known. */
  stamp?: string
  /** When it last went on, ISO 8601; absent when the file's time is all that is known. */
  changedAt?: string
}
