import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { isRecord } from '../json.ts'

export interface SessionName {
  text: string
  /** Whether a person chose it. Otherwise the host starts with the first prompt as a name. */
  isChosen: boolean
}

/** The name of a session, from the file that the host keeps next to its events. */
export async function sessionName(path: string): Promise<SessionName | undefined> {
  try {
    const text = await readFile(join(dirname(path), 'workspace.yaml'), 'utf8')
    // Loaded only here, so that sessions of other hosts do not wait for it when they start.
    const { parse } = await import('yaml')
    const facts: unknown = parse(text, { logLevel: 'error' })
    if (!isRecord(facts) || typeof facts.name !== 'string' || facts.name.trim() === '') return undefined
    return { text: facts.name.trim(), isChosen: facts.user_named === true }
  } catch {
    // Older versions wrote none, and events may be anywhere: a session is read without a name rather than not at all.
    return undefined
  }
}
