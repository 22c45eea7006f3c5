import type { EchoCheck } from '@recall/echoes'
import { exitCodes } from '../../exit-codes.ts'
import { paint } from '../../terminal/format.ts'
import { printable } from '../../terminal/printable.ts'
import { copyToMemory, type EchoesOptions, notFound, type Project } from './project.ts'

/** Examines the echoes and copies them into the memory; with `--yes`, removes what killed processes left behind. */
export async function doctor(project: Project, _: string[], options: EchoesOptions): Promise<number> {
  const { io, folder, echoes } = project
  const findings =
    echoes.roles().length > 0
      ? [...(await echoes.examine({ fix: options.yes })), await copiesIn(project, options)]
      : [ofAll(true, `there are no echoes in ${folder} yet: 'recall echoes add' writes the first`)]
  const healthy = findings.every(({ ok }) => ok)
  if (options.json) io.out(`${JSON.stringify({ healthy, folder, findings })}\n`)
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

const ofAll = (ok: boolean, message: string): EchoCheck => ({ role: null, ok, message })

/** Copies the echoes into the memory, and reports whether searches find them there. */
async function copiesIn(project: Project, options: EchoesOptions): Promise<EchoCheck> {
  try {
    const mirrored = await copyToMemory(project, options)
    if (!mirrored)
      return ofAll(true, "searches do not find the echoes: there is no memory here ('recall init' makes one)")
    const [problem] = mirrored.problems
    return problem === undefined
      ? ofAll(true, 'searches of the memory find all entries')
      : ofAll(false, notFound(problem))
  } catch (error) {
    return ofAll(false, notFound((error as Error).message))
  }
}
