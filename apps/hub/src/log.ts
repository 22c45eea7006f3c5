/** Receives log lines about requests and failures. They never hold a key, a query or a memory. */
export type Log = (line: Record<string, unknown>) => void
