import { dirname, join } from 'node:path'
import { filesOfHelpers } from '../reading/files-below.ts'

/**
 * The chats of the helpers that a session started: in a folder named after the session, next to that of its own chat.
 */
export const listQwenHelpers = (path: string, id: string): Promise<string[]> =>
  filesOfHelpers(join(dirname(path), '..', 'subagents', id.replace(/[^a-zA-Z0-9_-]/g, '_')), (name) =>
    /^agent-.*\.jsonl$/.test(name),
  )
