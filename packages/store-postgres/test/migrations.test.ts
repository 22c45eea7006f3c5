import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

it('the committed migrations lead to the schema as it stands', async () => {
  // The tool takes a folder below its own only.
  const copy = mkdtempSync(join(root, 'node_modules', '.migrations-'))
  try {
    cpSync(join(root, 'migrations'), copy, { recursive: true })
    const out = `./${copy.slice(root.length)}`
    const kit = join(root, 'node_modules/drizzle-kit/bin.cjs')
    const options = ['--dialect', 'postgresql', '--schema', './src/schema/*.ts', '--out', out]
    const { stdout } = await promisify(execFile)(process.execPath, [kit, 'generate', ...options], {
      cwd: root,
    })
    expect(stdout).toContain('No schema changes')
    expect(readdirSync(copy).sort()).toEqual(readdirSync(join(root, 'migrations')).sort())
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})
