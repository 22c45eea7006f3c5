import { exitCodes, UsageError } from '../exit-codes.ts'
import type { Io } from '../terminal/io.ts'
import { consolidate, migrate, prune } from './echoes/care.ts'
import { doctor } from './echoes/doctor.ts'
import { add, move, remove, reset, restore } from './echoes/edit.ts'
import { type EchoesOptions, openProject, type Project } from './echoes/project.ts'
import { publish } from './echoes/publish.ts'
import { promote, remembrance } from './echoes/remembrance.ts'
import { show, surfaceFor } from './echoes/show.ts'
import { begin, end } from './echoes/workflows.ts'

type Action = (project: Project, args: string[], options: EchoesOptions) => Promise<number | undefined>

const actions: Record<string, Action> = {
  show,
  add,
  move,
  remove,
  restore,
  reset,
  prune,
  consolidate,
  remembrance,
  promote,
  publish,
  migrate,
  surface: surfaceFor,
  begin,
  end,
  doctor,
}

/** The most arguments that an action takes, unless the action itself checks that. */
const mostArguments: Readonly<Record<string, number>> = {
  move: 1,
  promote: 1,
  publish: 1,
  begin: 1,
  end: 1,
  doctor: 0,
}

/** Actions that take effect at once, with nothing to show before. */
const immediate: ReadonlySet<string> = new Set(['add', 'restore', 'surface', 'begin', 'end'])

/** Runs one action on the echoes of a project. Destructive actions only show a plan until `--yes` is given. */
export async function echoes(
  io: Io,
  [name = '', ...args]: string[],
  options: EchoesOptions,
): Promise<number> {
  const action = Object.hasOwn(actions, name) ? actions[name] : undefined
  if (!action) throw new UsageError(`echoes takes ${Object.keys(actions).join(', ')}, not '${name}'`)
  const extra = args[mostArguments[name] ?? args.length]
  if (extra !== undefined)
    throw new UsageError(`'${extra}' is one argument too many (see 'recall echoes --help')`)
  if (options.yes && options.dryRun) throw new UsageError('--yes and --dry-run exclude each other')
  if (options.dryRun && immediate.has(name))
    throw new UsageError(`echoes ${name} does it at once: it takes no --dry-run`)
  return (await action(openProject(io, options), args, options)) ?? exitCodes.fine
}
