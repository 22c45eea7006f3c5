import { parseJson } from '../json.ts'
import { openFile, toMemoryError } from './open-file.ts'

/** Largest JSON document: unlike JSON Lines, it is held in memory as a whole. */
const mostBytes = 64 * 1024 * 1024

/**
 * The value of a file that is one JSON document; `undefined` if it is not one, or is above 64 MB.
 *
 * @throws MemoryError as `openFile` does
 */
export async function readJsonDocument(path: string): Promise<unknown> {
  const file = await openFile(path)
  try {
    if ((await file.stat()).size > mostBytes) return undefined
    return parseJson((await file.readFile('utf8')).replace(/^\uFEFF/, ''))
  } catch (error) {
    throw toMemoryError(path, error)
  } finally {
    await file.close()
  }
}
