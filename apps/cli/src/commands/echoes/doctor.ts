import type { EchoFinding } from '@recall/echoes'
import { exitCodes } from '../../exit-codes.ts'
import { paint } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { type EchoesOptions, mirror, type Project } from './project.ts'

/** Examines the echoes and copies them into the memory; with `--yes`, removes what killed processes left. */
export async function doctor(project: Project, _: string[], options: EchoesOptions): Promise<number> {
  const { io, echoes } = project
  const findings: EchoFinding[] = echoes.roles().length > 0 ? await echoes.examine({ fix: options.yes }) : []
  const readable = findings.every(({ ok, role }) => ok || role === null)
  const mirrored = findings.length > 0 && readable ? await mirror(project, options) : undefined
  findings.push({
    role: null,
    ok: true,
    message: mirrored
      ? 'searches of the memory find all entries'
      : readable
        ? "searches do not find the echoes: there is no memory here ('recall init' makes one)"
        : 'searches do not find what cannot be read',
  })
  const healthy = findings.every(({ ok }) => ok)
  if (options.json) io.out(`${JSON.stringify({ healthy, folder: project.folder, findings })}\n`)
  else {
    const colour = paint(io)
    const lines = findings.map(({ role, ok, message, remedy, fixed }) => {
      const mark = fixed ? colour.yellow('mended ') : ok ? colour.green('ok     ') : colour.red('wrong  ')
      return `${mark}${role ? `${role}: ` : ''}${printable(message)}\n${!ok && remedy ? `       → ${remedy}\n` : ''}`
    })
    io.out(lines.join(''))
  }
  return healthy ? exitCodes.fine : exitCodes.no
}
