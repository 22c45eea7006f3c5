import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'

const roots: string[] = []

/** An empty folder, removed after the test. */
export function temporaryRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'recall-store-')))
  roots.push(root)
  return root
}

afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true })
})
