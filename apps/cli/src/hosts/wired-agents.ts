import { existsSync, realpathSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { installedNames, targets, type Wired, wiredIn } from '@recall/agents'
import { isMemoryError } from '@recall/core'
import type { FileStore, Finding } from '@recall/store-file'
import { stateFolder } from '../memory/receipts.ts'
import { quoted } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { machineOf, wiringOf } from './wiring.ts'

const check = 'agents'

/**
 * Checks that the agents a memory is wired into can still reach it: if Node or this program was moved, or the host's
 * settings were replaced, sessions are no longer kept, and nobody is told.
 */
export function wiredAgents(io: Io, store: FileStore): Finding[] {
  try {
    return examine(io, store)
  } catch (error) {
    if (!isMemoryError(error)) throw error
    return [
      { check, ok: false, message: error.message, remedy: "then wire the agents again with 'recall init'" },
    ]
  }
}

/** @throws MemoryError CORRUPTION when the record of a wiring is damaged */
function examine(io: Io, { root, layout }: FileStore): Finding[] {
  const state = stateFolder(io)
  const wiring = wiringOf(io, root, layout)
  const machine = machineOf(io)
  const found = installedNames(state).flatMap((name) => {
    const edits = targets.find((target) => target.name === name)?.edits(machine, wiring) ?? []
    const known = wiredIn(name, edits, state)
    return known && isAt(root, known.wired) ? [{ name, ...known }] : []
  })
  if (found.length === 0) return []
  const broken = found
    .map((each) => ({ ...each, problems: problemsOf(each) }))
    .filter(({ problems }) => problems.length > 0)
  if (broken.length === 0) return [{ check, ok: true, message: found.map(({ name }) => name).join(', ') }]
  const problems = broken.flatMap((each) => each.problems)
  const again = broken.map(({ name, wired }) => `run '${wiringAgain(name, wired)}'`)
  const remedy = [...again, "or 'recall uninit' where it is no longer wanted"].join('; ')
  return [{ check, ok: false, message: problems.join('; '), problems, remedy }]
}

/** The root of a store has its links resolved. */
const isAt = (root: string, wired: Wired): boolean =>
  existsSync(wired.root) && realpathSync(wired.root) === root

function problemsOf({
  name,
  wired,
  lost,
}: {
  name: string
  wired: Wired
  lost: readonly string[]
}): string[] {
  const gone = wired.command.filter((part) => isAbsolute(part) && !existsSync(part))
  return [
    ...gone.map((path) => `${name} starts ${path}, which is gone: its sessions are not kept`),
    ...lost.map((path) => `${path} holds nothing of recall any more: ${name} may not have this memory`),
  ]
}

/** A target of the person's own is named by its module, which nobody noted. */
const wiringAgain = (name: string, { root, recallPrompts, consume }: Wired): string =>
  [
    `recall init --target ${targets.some((target) => target.name === name) ? name : `<module of ${name}>`}`,
    `--root ${quoted(root)}`,
    ...(recallPrompts ? ['--recall-prompts'] : []),
    ...(consume ? ['--consume'] : []),
  ].join(' ')
