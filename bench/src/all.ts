import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { suites } from './all-suites.ts'
import { type Options, say } from './options.ts'
import { publishSummary } from './summary.ts'

/**
 * Runs every suite whose requirements are met, each in a separate process, so that none measures what another left
 * behind. A suite that breaks off does not stop the others. False when any of them failed.
 */
export function measureAll(options: Options): boolean {
  const chosen = Object.entries(suites).filter(([, { all, needs }]) => all && (!needs || options[needs]))
  const failed: string[] = []
  for (const [i, [name, { all = [] }]] of chosen.entries()) {
    say(`\n[${i + 1}/${chosen.length}] ${name}`)
    const started = performance.now()
    const { status } = spawnSync(
      process.execPath,
      [
        ...process.execArgv,
        fileURLToPath(new URL('main.ts', import.meta.url)),
        name,
        ...all,
        ...shared(options),
      ],
      { stdio: 'inherit' },
    )
    say(`${name}: ${Math.round((performance.now() - started) / 1000)} s`)
    if (status !== 0) failed.push(name)
  }
  for (const [name, { all, needs }] of Object.entries(suites)) {
    if (!chosen.some(([each]) => each === name)) say(`left out: ${name}${all ? `, it needs --${needs}` : ''}`)
  }
  if (failed.length > 0) say(`failed: ${failed.join(', ')}`)
  say(`see ${publishSummary()}`)
  return failed.length === 0
}

/** The given options are passed on to every suite; they come last, so that they take precedence. */
const shared = ({ qmd, mem0, ...options }: Options): string[] => [
  ...(['seed', 'sizes', 'rounds', 'minutes', 'kills', 'findings', 'postgres', 'data'] as const).flatMap(
    (name) => (options[name] ? [`--${name}`, options[name]] : []),
  ),
  ...(qmd ? ['--qmd'] : []),
  ...(mem0 ? ['--mem0'] : []),
]
