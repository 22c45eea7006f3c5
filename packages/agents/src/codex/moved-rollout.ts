import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { folderOfRollouts } from './folder-of-rollouts.ts'

/**
 * Where a transcript is now. Codex compresses a rollout that was left alone for long, and moves one whose session a
 * person archives; other transcripts stay where they are, or are gone.
 */
export function transcriptNow(path: string): string {
  const name = basename(path)
  if (!/^rollout-.*\.jsonl$/.test(name) || existsSync(path)) return path
  const folder = folderOfRollouts(path)
  const places = [path, ...(folder === undefined ? [] : [join(dirname(folder), 'archived_sessions', name)])]
  return places.flatMap((place) => [place, `${place}.zst`]).find(existsSync) ?? path
}
