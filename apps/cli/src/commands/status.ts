import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { assessHealth, type Health } from '@recall/sessions'
import {
  defaultConfig,
  defaultFileSystem,
  type Layout,
  layoutOf,
  type MemoryStatus,
  type ReadConfig,
  readStatus,
  type StatusAsRead,
} from '@recall/store-file'
import { exitCodes } from '../exit-codes.ts'
import { findRoot, type RootOptions, withRoot } from '../memory/find-root.ts'
import { isAway, remedyWhereAway } from '../memory/receipts.ts'
import { count, formatBytes, paint, short } from '../terminal/format.ts'
import type { Io } from '../terminal/io.ts'
import { printable } from '../terminal/printable.ts'
import { createRedaction } from '../terminal/redaction.ts'

/** Shows the state of the whole memory. Exit code 1 when it is not healthy. */
export async function status(
  io: Io,
  given: string | undefined,
  options: RootOptions & { json?: boolean },
): Promise<number> {
  const where = withRoot(io, given, options)
  const root = findRoot(io, where)
  const layout = layoutOf(defaultFileSystem, root, options.layout)
  const settings = existsSync(join(root, layout.config))
    ? (await import('../deferred/settings.ts')).readSettings(root, layout)
    : { config: defaultConfig }
  const seen = await readOrTellWhyNot(root, layout, settings)
  // Usually the state of the index is known without opening it, which would cost more than everything else.
  const index = seen.index ?? (await (await import('../deferred/index-facts.ts')).indexFacts(io, where))
  const { redact, tell } = createRedaction(io)
  const recent = seen.recent.map((session) => ({
    ...session,
    ...(session.title === undefined ? {} : { title: redact(session.title) }),
    ...(session.opening === undefined ? {} : { opening: redact(session.opening) }),
    topics: session.topics.map(redact),
  }))
  const state = { ...seen, index, recent }
  const { health, reason } = assessHealth(state)
  io.out(
    options.json
      ? `${JSON.stringify(toJson(state, health, reason))}\n`
      : dashboard(io, state, health, reason),
  )
  tell()
  return health === 'healthy' ? exitCodes.fine : exitCodes.no
}

async function readOrTellWhyNot(root: string, layout: Layout, settings: ReadConfig): Promise<StatusAsRead> {
  try {
    return readStatus(defaultFileSystem, root, layout, settings)
  } catch (error) {
    const { requireRightKinds } = await import('../memory/right-kinds.ts')
    requireRightKinds(root, layout)
    throw error
  }
}

const toJson = (
  { memory, ephemeral, archives, index, recent, problem }: MemoryStatus,
  health: string,
  reason: string,
) => ({
  health,
  reason,
  memory,
  ephemeral,
  archives,
  index,
  recent,
  ...(problem ? { problem } : {}),
})

function dashboard(io: Io, state: MemoryStatus, health: Health['health'], reason: string): string {
  const colour = paint(io)
  const mark = colour[colourOf[health]]('●')
  const { memory, ephemeral, archives, index } = state
  const lines = [
    `${colour.bold('Recall')}  ${colour.dim(state.root)}`,
    '',
    `  ${mark} ${health}${reason ? colour.dim(`  ${reason}`) : ''}`,
    ...(Object.values(state.present).every(Boolean) ? [] : [`    → ${remedy(io, state.root)}`]),
    '',
    `  MEMORY.md   ${bar(io, memory.lines, memory.limit)}  ${memory.lines} of ${memory.limit} lines${memory.lines > memory.limit ? " → 'recall distill' says how to shorten it" : ''}`,
    `  window      ${bar(io, ephemeral.entries, ephemeral.max)}  ${fill(ephemeral)}`,
    `  archives    ${archives.count} (${formatBytes(archives.bytes)})`,
    `  index       ${count(index.documents, 'entry', 'entries')}, ${index.fresh ? 'fresh' : 'is brought up to date by the next search'}`,
    ...(state.problem ? ['', `  ${colour.yellow('!')} ${printable(state.problem)}`] : []),
    ...(state.recent.length > 0 ? ['', `${colour.bold('  Recent sessions')} ${colour.dim('(UTC)')}`] : []),
    ...state.recent.map((session) => recentLine(io, session)),
  ]
  return `${lines.join('\n')}\n`
}

const colourOf = { healthy: 'green', degraded: 'yellow', down: 'red' } as const

function recentLine(io: Io, session: MemoryStatus['recent'][number]): string {
  const { number, date, messages, duration, part, title, opening, topics } = session
  const minute = date.slice(0, 16).replace('T', ' ')
  const length = `${count(messages, 'message')}, ${duration}`.padEnd(22)
  const name = `${part ? `part ${part}: ` : ''}${printable(title ?? opening ?? topics.slice(0, 4).join(', '))}`
  const room = Math.max(shortestTitle, io.columns - besideTitle)
  return `  ${String(number).padStart(3, '0')}  ${minute}  ${length} ${paint(io).dim(short(name, room))}`
}

const remedy = (io: Io, root: string): string =>
  isAway(io, root) ? remedyWhereAway : "'recall init' creates what is missing"

/** After the limit was lowered, the window holds more than it until the next session enters. */
const fill = ({ entries, max }: MemoryStatus['ephemeral']): string =>
  entries > max
    ? `${entries} sessions, ${max} from the next one on`
    : `${entries} of ${count(max, 'session')}`

/** Columns taken by number, date and length of a session. */
const besideTitle = 48
const shortestTitle = 24

const barWidth = 20

function bar(io: Io, value: number, limit: number): string {
  const colour = paint(io)
  const share = Math.min(1, limit === 0 ? 0 : value / limit)
  const filled = Math.round(share * barWidth)
  const tint = share > 0.9 ? colour.red : share > 0.75 ? colour.yellow : colour.green
  return `${tint('█'.repeat(filled))}${colour.dim('░'.repeat(barWidth - filled))}`
}
