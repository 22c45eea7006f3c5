import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** An empty folder, removed after the test, when what it has opened since is closed: Windows removes no open file. */
export function temporaryRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'recall-store-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  return root
}
