import { existsSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { openPglite } from '../src/pglite.ts'
import { templateName } from './template-name.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** File with the data directory of a migrated, empty embedded database. */
    template: string
  }
}

/** Creating a database takes seconds: it is done once for each state of the migrations, and kept. */
export async function setup(project: TestProject): Promise<void> {
  const folder = fileURLToPath(new URL('../node_modules/.recall-test', import.meta.url))
  const path = join(folder, templateName())
  if (!existsSync(path)) {
    mkdirSync(folder, { recursive: true })
    const { dump, close } = await openPglite()
    const bytes = Buffer.from(await (await dump()).arrayBuffer())
    await close()
    // Another run may be doing the same.
    writeFileSync(`${path}.${process.pid}`, bytes)
    renameSync(`${path}.${process.pid}`, path)
  }
  project.provide('template', path)
}
