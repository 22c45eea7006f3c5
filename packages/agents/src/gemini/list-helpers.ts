import { dirname, join } from 'node:path'
import { filesOfHelpers } from '../reading/files-below.ts'

/** The chats of the helpers that a session started; they lie in a folder named after the session. */
export const listGeminiHelpers = (path: string, id: string): Promise<string[]> =>
  filesOfHelpers(join(dirname(path), id.replace(/[^a-zA-Z0-9_-]/g, '_')), (name) => name.endsWith('.jsonl'))
