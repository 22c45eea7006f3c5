import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import * as z from 'zod/mini'
import { readYaml } from '../documents/read-yaml.ts'
import { readText, replaceFile } from './files.ts'

const settingsSchema = z.nullish(
  z.object({ echoes: z.nullish(z.object({ version_controlled: z.optional(z.boolean()) })) }),
)

/**
 * Keeps the echoes out of version control, unless the project's `talisman.yml` has `echoes: { version_controlled: true
 * }`: adds the folder's line to `.gitignore`, or removes it. The line excludes only that folder, no other of its name.
 * Idempotent.
 *
 * @param options.folder below the project, for example `.recall/echoes`
 * @param options.settings path of the `talisman.yml`; without it the echoes are excluded
 * @returns whether `.gitignore` was changed, and what the settings say
 * @throws MemoryError INVALID_INPUT, with nothing changed, when the settings cannot be read, or the folder to exclude
 * is the project itself
 */
export function applyVersionControl(options: {
  project: string
  folder: string
  settings?: string | undefined
}): {
  versionControlled: boolean
  changed: boolean
} {
  const { project, settings } = options
  const folder = withoutEnds(options.folder)
  const versionControlled = settings !== undefined && optsIn(settings)
  if (folder === '') {
    if (versionControlled) return { versionControlled, changed: false }
    throw wholeProject(project)
  }
  const path = realPathOf(join(project, '.gitignore'))
  const text = readText(path) ?? ''
  const next = versionControlled ? without(text, folder) : including(text, folder)
  if (next !== text) replaceFile(path, next)
  return { versionControlled, changed: next !== text }
}

/** The real path of a file that a person may have linked to, so that writing does not replace the link. */
const realPathOf = (path: string): string => orAbsent(() => realpathSync(path)) ?? path

function optsIn(path: string): boolean {
  const text = readText(realPathOf(path))
  if (text === null) return false
  try {
    const settings = settingsSchema.parse(readYaml(text))
    return settings?.echoes?.version_controlled === true
  } catch (cause) {
    throw new MemoryError(
      `${path} cannot be read: mend it, so that its settings are known`,
      MemoryErrorCode.INVALID_INPUT,
      {
        cause,
        details: { path },
      },
    )
  }
}

const wholeProject = (project: string): MemoryError =>
  new MemoryError(
    `the echoes lie in ${project} itself, which no line can exclude: give them a folder of their own, or list there what git should not keep`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path: project } },
  )

const linesOf = (text: string): string[] => (text === '' ? [] : text.split(/(?<=\n)/))

/** The path without leading and trailing slashes; empty for the folder itself. */
const withoutEnds = (path: string): string => path.replace(/^(?:\.?\/)+|\/+$/g, '').replace(/^\.$/, '')

/** The folder as a pattern of git: special characters are escaped, and a line end becomes any character. */
const patternOf = (folder: string): string => folder.replace(/[\\*?[\]]/g, '\\$&').replace(/[\r\n]/g, '?')

/** A person may have written the line without its slashes. */
const isLineOf = (line: string, folder: string): boolean =>
  patternOf(folder) === line.trim().replace(/^\/|\/$/g, '')

const without = (text: string, folder: string): string =>
  linesOf(text)
    .filter((line) => !isLineOf(line, folder))
    .join('')

function including(text: string, folder: string): string {
  if (linesOf(text).some((line) => isLineOf(line, folder))) return text
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const gap = text === '' || text.endsWith('\n') ? '' : newline
  // With a leading slash: without it the line would exclude every folder of this name.
  return `${text}${gap}/${patternOf(folder)}/${newline}`
}
