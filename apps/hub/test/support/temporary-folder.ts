import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

const folders: string[] = []

/** An empty folder, removed after all tests of the file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'recall-hub-'))
  folders.push(folder)
  return folder
}

// The first that is said is done last: what a file opened in a folder is closed then.
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
