import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { asTarget, type Surroundings, type Target, targets, type Wiring } from '@recall/agents'
import type { Layout } from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'

export const machineOf = (io: Io): Surroundings => ({
  home: io.home,
  env: io.env,
  platform: process.platform,
  exists: existsSync,
  readText,
})

/** If a file cannot be read, the edit of that file reports it. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

export const wiringOf = (
  io: Io,
  root: string,
  layout: Layout,
  options: { recallPrompts?: boolean; consume?: boolean } = {},
): Wiring => ({
  command: io.ownCommand ?? ['recall'],
  version: process.env.RECALL_VERSION ?? 'development',
  root,
  files: {
    curated: join(root, layout.curated),
    window: join(root, layout.window),
    archives: join(root, layout.archives),
  },
  recallPrompts: options.recallPrompts ?? false,
  consume: options.consume ?? false,
})

/**
 * Finds the targets that the user named: built-in ones, or modules of their own, separated by commas.
 *
 * @throws UsageError for an unknown name
 */
export function namedTargets(io: Io, names: string): Target[] {
  const named = names.split(',').map((name) => name.trim())
  const found: Target[] = []
  for (const name of named) {
    const builtIn = targets.find((target) => target.name === name)
    if (builtIn) found.push(builtIn)
    else if (/\.[cm]?js$/.test(name)) found.push(loadTarget(resolve(io.cwd, name)))
    else {
      throw new UsageError(
        `--target takes ${targets.map((target) => target.name).join(', ')} or a module such as ./mine.mjs, not '${name}'`,
      )
    }
  }
  return [...new Set(found)]
}

function loadTarget(path: string): Target {
  if (!existsSync(path)) throw new UsageError(`${path} does not exist: --target takes the module of an agent`)
  // Not `import()`: in the bundle that becomes a `require`, which does not accept a URL.
  const module: unknown = createRequire(import.meta.url)(path)
  const exported = module as { target?: unknown; default?: unknown }
  return asTarget(exported.target ?? exported.default, path)
}
