import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openPglite } from '../../src/pglite.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** An empty embedded database, migrated. Creating one takes seconds: it is done once for each state, and kept. */
export async function template(): Promise<Blob> {
  const folder = join(root, 'node_modules', '.recall-test')
  const path = join(folder, templateName())
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    const { dump, close } = await openPglite()
    const bytes = Buffer.from(await (await dump()).arrayBuffer())
    await close()
    // Another test file may be doing the same.
    writeFileSync(`${path}.${process.pid}`, bytes)
    renameSync(`${path}.${process.pid}`, path)
  }
  return new Blob([readFileSync(path)])
}

/** Names what an empty database depends on: the engine, and the migrations to the letter. */
function templateName(): string {
  const hash = createHash('sha256').update(readFileSync(join(root, 'package.json')))
  for (const name of readdirSync(join(root, 'migrations')).sort()) {
    if (name.endsWith('.sql')) hash.update(readFileSync(join(root, 'migrations', name)))
  }
  return `template-${hash.digest('hex').slice(0, 16)}.tar`
}
