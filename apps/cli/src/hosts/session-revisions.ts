import { sessionRevisions, splitAddress } from '@recall/agents'
import { isMemoryError } from '@recall/core'
import { type SessionNote, stampOf } from './session-notes.ts'

/** The state of a session in a database, when the whole database had this stamp. */
export interface Revision {
  seen: string
  revision: string
}

/**
 * Returns a function that reads the state of a session in a database: the stamp of a database changes whenever any
 * session in it goes on. All sessions of a database are read together with the first of them: its owner may be writing,
 * and then each read would copy it again.
 */
export function createRevisionReader(
  sessions: readonly SessionNote[],
): (transcript: string) => Promise<Revision | undefined> {
  const databases = new Map<string, { seen: string | null; revisions: Map<string, string> }>()
  return async (transcript) => {
    const address = splitAddress(transcript)
    if (address === null) return undefined
    const { file, id } = address
    let database = databases.get(file)
    if (database === undefined) {
      const addresses = sessions.map((session) => splitAddress(session.transcript))
      const ids = addresses.flatMap((each) => (each?.file === file ? [each.id] : []))
      const seen = stampOf(transcript)
      database = { seen, revisions: await sessionRevisions(file, ids).catch(noRevisions) }
      databases.set(file, database)
    }
    const revision = database.revisions.get(id)
    return database.seen === null || revision === undefined ? undefined : { seen: database.seen, revision }
  }
}

/** Archiving its sessions reports what is wrong with a database. */
function noRevisions(error: unknown): Map<string, string> {
  if (!isMemoryError(error)) throw error
  return new Map()
}
