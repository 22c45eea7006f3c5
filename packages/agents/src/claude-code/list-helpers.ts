import { basename, dirname, join } from 'node:path'
import { filesOfHelpers } from '../reading/files-below.ts'

/** The transcripts of the helpers that a session started; they lie in a folder named like the session's file. */
export const listClaudeCodeHelpers = (path: string): Promise<string[]> =>
  filesOfHelpers(join(dirname(path), basename(path).replace(/\.jsonl$/, ''), 'subagents'), (name) =>
    /^agent-.*\.jsonl$/.test(name),
  )
