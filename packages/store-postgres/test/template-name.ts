import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Names what an empty database depends on: the engine, and the migrations to the letter. */
export function templateName(): string {
  const hash = createHash('sha256')
  const manifest = fileURLToPath(new URL('../package.json', import.meta.url))
  hash.update(readFileSync(manifest))
  const migrations = fileURLToPath(new URL('../migrations/', import.meta.url))
  for (const name of readdirSync(migrations).sort()) {
    if (name.endsWith('.sql')) hash.update(readFileSync(migrations + name))
  }
  return `template-${hash.digest('hex').slice(0, 16)}.tar`
}
