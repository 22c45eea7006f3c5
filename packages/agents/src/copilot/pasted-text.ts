import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Skip } from '../reading/skipped.ts'

/** The mark in a prompt for a long pasted text; the host keeps the text in a file of the session. */
const mark = /<pasted_content file="(?:[^"]*[\\/])?(paste-\w+\.txt)"[^>]*\/>/g
const mostBytes = 16 * 1024 * 1024

/** A prompt with its pasted texts, from the folder next to the events; a mark whose file is gone stays. */
export async function withPastedText(prompt: string, events: string, skip: Skip): Promise<string> {
  let text = ''
  let end = 0
  for (const { 0: found, 1: name = '', index } of prompt.matchAll(mark)) {
    const pasted = await readPasted(join(dirname(events), 'files', name))
    if (pasted === undefined) skip('pasted text that cannot be read')
    text += prompt.slice(end, index) + (pasted ?? found)
    end = index + found.length
  }
  return text + prompt.slice(end)
}

async function readPasted(path: string): Promise<string | undefined> {
  try {
    const stats = await stat(path)
    return stats.isFile() && stats.size <= mostBytes ? await readFile(path, 'utf8') : undefined
  } catch {
    return undefined
  }
}
