import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { archiveIndexHeader, defaultFileSystem, detectLayout, type Layout, layouts } from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'
import { findRoot, type RootOptions } from '../find-root.ts'
import type { Io } from '../io.ts'

/** Creates what is missing and leaves everything else alone. */
export async function init(
  io: Io,
  given: string | undefined,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  const root = given ? resolve(io.cwd, given) : findRoot(io, options)
  mkdirSync(root, { recursive: true })
  const layout = await chooseLayout(io, root, options)
  const created: string[] = []
  const kept: string[] = []
  const file = (path: string, content: string): void => {
    const full = join(root, path)
    if (existsSync(full)) return void kept.push(path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, content, { flag: 'wx' })
    created.push(path)
  }
  file(
    layout.curated,
    '# Memory\n\nFacts, preferences and patterns worth keeping in view. Keep it under 200 lines.\n',
  )
  file(layout.window, '')
  file(layout.archiveIndex, archiveIndexHeader)
  const archives = join(root, layout.archives)
  if (existsSync(archives)) kept.push(`${layout.archives}/`)
  else {
    mkdirSync(archives, { recursive: true })
    created.push(`${layout.archives}/`)
  }
  if (options.json) io.out(`${JSON.stringify({ root, layout: layout.name, created, kept })}\n`)
  else io.out(summary(root, layout.name, created, kept))
  return undefined
}

/** What was asked for, else what is there, else what the person chooses. */
async function chooseLayout(
  io: Io,
  root: string,
  { layout, json }: RootOptions & { json?: boolean },
): Promise<Layout> {
  if (layout) return layouts[layout]
  const detected = detectLayout(defaultFileSystem, root)
  const isNew = ![detected.window, detected.archiveIndex, detected.archives].some((path) =>
    existsSync(join(root, path)),
  )
  if (!isNew || json) return detected
  const answer = await io.ask(
    'One memory for an entity (everything below memory/), or for a user (window and archives beside it)? [entity] ',
  )
  if (answer === null || answer.trim() === '') return layouts.entity
  if (answer.trim() === 'user' || answer.trim() === 'entity') return layouts[answer.trim() as Layout['name']]
  throw new UsageError(`the layouts are entity and user, not '${answer.trim()}'`)
}

function summary(root: string, layout: string, created: string[], kept: string[]): string {
  const lines = [
    `Memory at ${root} (${layout} layout)`,
    ...created.map((path) => `  created  ${path}`),
    ...kept.map((path) => `  kept     ${path}`),
    '',
    'Next:  recall archive <transcript>   archive a session',
    '       recall search <words>         find anything in it',
    '       recall status                 see how it is doing',
  ]
  return `${lines.join('\n')}\n`
}
