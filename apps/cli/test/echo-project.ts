import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { createShell, type Shell, temporaryFolder } from './support.ts'

export const evidence = '`src/list.ts:1-5` — a query for every row'
export const learning = 'Load what a list shows with one query.'
export const entry = ['--evidence', evidence, '--learning', learning]

/** A project with one inscribed entry; `answer` is what its person types at the terminal. */
export async function project(answer: string | null = null): Promise<Shell> {
  const shell = createShell(temporaryFolder(), answer)
  await shell.run('init')
  const added = await shell.run(
    'echoes',
    'add',
    'reviewer',
    'Queries in loops',
    '--layer',
    'inscribed',
    ...entry,
  )
  expect(added).toMatchObject({ code: 0, out: 'Added as reviewer/inscribed-001.\n' })
  return shell
}

/** What a role has learned, as it is written. */
export const memoryOf = ({ root }: Shell, role = 'reviewer'): string =>
  readFileSync(join(root, '.recall/echoes', role, 'MEMORY.md'), 'utf8')
