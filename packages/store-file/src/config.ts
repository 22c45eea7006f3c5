import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { parse } from 'smol-toml'
import * as z from 'zod/mini'
import { defaultConfig, type ReadConfig } from './default-config.ts'
import { keepingLineEnds } from './documents/line-ends.ts'
import type { FileStore } from './file-store.ts'
import { replaceFile } from './files/atomic-write.ts'
import { defaultFileSystem, type FileSystem } from './files/file-system.ts'
import { readText } from './files/read-text.ts'
import { createWorkspace } from './files/workspace.ts'
import type { Layout } from './layout/layout.ts'

const configSchema = z.object({
  ephemeral: z.optional(z.object({ max_entries: z.optional(z.int().check(z.gte(1), z.lte(50))) })),
})

/**
 * The settings of a memory. A missing file means the defaults; so does a value that makes no sense, but then `problem`
 * says what is wrong with it. `problem` also names a setting of ours that does not exist, such as a misspelt one.
 */
export function readConfig(fileSystem: FileSystem, root: string, layout: Layout): ReadConfig {
  const path = join(root, layout.config)
  const without = (reason: string): ReadConfig => ({
    config: defaultConfig,
    problem: `${layout.config} is not valid, the defaults are used: ${reason}`,
  })
  try {
    const file = readText(fileSystem, path)
    if (!file) return { config: defaultConfig }
    const settings = parse(file.content)
    const { data, error } = configSchema.safeParse(settings)
    if (error) return without(reasonOf(error.issues[0]?.path ?? []))
    const maxEntries = data.ephemeral?.max_entries ?? defaultConfig.ephemeral.maxEntries
    const problem = unknownSetting(layout, settings)
    return { config: { ephemeral: { maxEntries } }, ...(problem ? { problem } : {}) }
  } catch (error) {
    return without(String((error as Error).message.split('\n')[0]))
  }
}

/** Other tables may belong to other tools; in ours, a misspelt name would be ignored in silence. */
function unknownSetting({ config }: Layout, { ephemeral = {} }: { ephemeral?: unknown }): string | undefined {
  const unknown = Object.keys(ephemeral as object)
    .map((key) => `ephemeral.${key}`)
    .find((name) => !settingNames.includes(name))
  return unknown && `${config}: there is no setting ${unknown}, only ${settingNames.join(', ')}`
}

/** What is wrong with the setting at a path. */
const reasonOf = (path: readonly PropertyKey[]): string =>
  path.length === 1
    ? `${String(path[0])} is a table: write [ephemeral], and max_entries below it`
    : `${path.join('.')} takes ${allowed}`

const allowed = 'a whole number from 1 to 50'

/** The settings by their full names. */
export const settingNames: readonly string[] = ['ephemeral.max_entries']

/**
 * Changes one setting and leaves every other line of the file as it is.
 *
 * @throws MemoryError INVALID_INPUT when the value is not allowed
 */
export function setConfig(store: FileStore, name: string, value: string): void {
  const [table = '', key = ''] = name.split('.')
  const check = configSchema.safeParse({ [table]: { [key]: Number(value) } })
  if (!settingNames.includes(name) || !check.success) {
    throw new MemoryError(`${name} takes ${allowed}, not '${value}'`, MemoryErrorCode.INVALID_INPUT)
  }
  store.exclusively(() => {
    const path = join(store.root, store.layout.config)
    const workspace = createWorkspace(defaultFileSystem)
    const text = workspace.read(path)
    const changed = keepingLineEnds(text, (plain) => withSetting(plain, table, key, String(Number(value))))
    // The edit works on lines; the parser has the last word before the result is kept.
    if (!says(changed, table, key, Number(value))) {
      const { problem } = readConfig(defaultFileSystem, store.root, store.layout)
      const reason = `${store.layout.config} writes ${table} in a form that cannot be edited here: set ${name} = ${value} by hand`
      throw new MemoryError(`nothing was changed: ${problem ?? reason}`, MemoryErrorCode.INVALID_INPUT)
    }
    replaceFile(defaultFileSystem, path, changed, { verify: workspace.assertUnchanged })
  })
}

function says(text: string, table: string, key: string, value: number): boolean {
  try {
    const settings: Record<string, Record<string, unknown> | undefined> = configSchema.parse(parse(text))
    return settings[table]?.[key] === value
  } catch {
    return false
  }
}

function withSetting(given: string, table: string, key: string, value: string): string {
  const text = given === '' || given.endsWith('\n') ? given : `${given}\n`
  const lines = text.split(/(?<=\n)/)
  const dotted = new RegExp(`^(\\s*${table}\\s*\\.\\s*${key}\\s*=\\s*)[^\\s#]+`)
  const firstTable = lines.findIndex((line) => /^\s*\[/.test(line))
  const whole = lines.findIndex((line, i) => dotted.test(line) && (firstTable < 0 || i < firstTable))
  if (whole >= 0) {
    lines[whole] = (lines[whole] as string).replace(dotted, `$1${value}`)
    return lines.join('')
  }
  const start = lines.findIndex((line) =>
    new RegExp(`^\\s*\\[\\s*${table}\\s*\\]\\s*(?:#.*)?$`).test(line.trimEnd()),
  )
  if (start < 0) return `${text}${text === '' ? '' : '\n'}[${table}]\n${key} = ${value}\n`
  const end = lines.findIndex((line, i) => i > start && /^\s*\[/.test(line))
  const own = lines.findIndex(
    (line, i) => i > start && (end < 0 || i < end) && new RegExp(`^\\s*${key}\\s*=`).test(line),
  )
  const comment = own < 0 ? '' : (/(\s*#.*)$/.exec(lines[own]?.trimEnd() ?? '')?.[1] ?? '')
  const line = `${key} = ${value}${comment}\n`
  if (own >= 0) lines[own] = line
  else lines.splice(start + 1, 0, line)
  return lines.join('')
}
