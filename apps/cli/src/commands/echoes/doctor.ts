import type { EchoFinding } from '@recall/echoes'
import { exitCodes } from '../../exit-codes.ts'
import { paint } from '../../format.ts'
import { type EchoesOptions, mirror, type Project, print } from './project.ts'

/** Examines the echoes and brings the memory in step with them; with `--yes` clears what killed processes left. */
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
  print(io, options.json, { healthy, folder: project.folder, findings }, () => {
    const colour = paint(io)
    return findings
      .map(({ role, ok, message, remedy, fixed }) => {
        const mark = fixed ? colour.yellow('mended ') : ok ? colour.green('ok     ') : colour.red('wrong  ')
        return `${mark}${role ? `${role}: ` : ''}${message}\n${!ok && remedy ? `       → ${remedy}\n` : ''}`
      })
      .join('')
  })
  return healthy ? exitCodes.fine : exitCodes.no
}
