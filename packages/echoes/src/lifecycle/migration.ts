import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { orAbsent } from '@recall/core/process'
import { type EchoDocument, parseEchoes } from '../documents/echo-document.ts'
import { type EchoEntry, entryKey } from '../documents/entry.ts'
import { type Renamed, renameMetadata } from '../documents/rename-metadata.ts'
import type { Sidecar } from '../documents/sidecar.ts'
import { readText } from '../files/files.ts'
import { type LoadedRole, loadRole, memoryPath, sidecarChange } from '../files/role-folder.ts'
import type { FileChange } from '../files/transaction.ts'

/** A markdown file in whose metadata a name was replaced, or that cannot be read. */
export interface Migrated {
  /** Below the root, for example `reviewer/MEMORY.md`; only the role when its memory cannot be read. */
  path: string
  /** Path of the copy from before, below the root; `null` when there is a problem. */
  backup: string | null
  renamed: Renamed[]
  /** Why it was left unchanged. */
  problem?: string
}

/**
 * The file changes that replace names in the metadata of every markdown file below the root, archives included. Backups
 * of the changed files come first, in a hidden folder that migrations do not read. A file that cannot be read stays
 * unchanged, and so do all files of a role whose memory cannot be read.
 */
export function migrationChanges(
  root: string,
  roles: readonly string[],
  renames: Readonly<Record<string, string>>,
  day: string,
): { report: Migrated[]; changes: FileChange[] } {
  const folder = freeFolder(root, day)
  const report: Migrated[] = []
  const backups: FileChange[] = []
  const changed = new Map<string, string>()
  const files: FileChange[] = []
  const attempt = <T>(path: string, call: () => T): T | undefined => {
    try {
      return call()
    } catch (error) {
      if (!isMemoryError(error)) throw error
      report.push({ path, backup: null, renamed: [], problem: error.message })
      return undefined
    }
  }
  const loaded = new Map(roles.map((role) => [role, attempt(role, () => loadRole(root, role))]))
  const isLeft = (role: string): boolean => loaded.has(role) && loaded.get(role) === undefined
  for (const path of markdownIn(root, '').filter((each) => !isLeft(roleOf(each)))) {
    const before = attempt(path, () => readText(join(root, path)) ?? '')
    const { text, renamed } = renameMetadata(before ?? '', renames)
    if (before === undefined || renamed.length === 0) continue
    const backup = `${folder}/${path}`
    report.push({ path, backup, renamed })
    backups.push({ path: backup, content: before })
    changed.set(path, text)
    files.push({ path, content: text, seen: before })
  }
  const touched = new Set([...changed.keys()].map(roleOf))
  const sidecars = [...loaded].flatMap(([role, memory]) =>
    memory && touched.has(role) ? [sidecarChange(role, rekeyed(memory, changed))] : [],
  )
  return { report, changes: [...backups, ...files, ...sidecars] }
}

export const roleOf = (path: string): string => path.split('/')[0] ?? ''

/**
 * The sidecar with the keys of the renamed evidence, so that entries keep their ids, including those in the archive.
 */
function rekeyed({ role, document, echoes, sidecar }: LoadedRole, changed: Map<string, string>): Sidecar {
  const result = structuredClone(sidecar)
  const next = parsed(changed.get(memoryPath(role)))
  const backups = new Map<string, Map<number, EchoEntry>>()
  for (const { id, block } of echoes) {
    const entry = next?.blocks[document.blocks.indexOf(block)]?.entry
    const known = result.entries[id]
    if (entry && known) known.key = entryKey(entry)
  }
  for (const known of Object.values(result.entries)) {
    const { archived } = known
    if (archived?.as !== 'removed') continue
    const entries =
      backups.get(archived.backup) ?? entriesBySection(changed.get(`${role}/archive/${archived.backup}`))
    backups.set(archived.backup, entries)
    const entry = entries.get(archived.block)
    if (entry) known.key = entryKey(entry)
  }
  return result
}

const parsed = (text: string | undefined): EchoDocument | undefined =>
  text === undefined ? undefined : parseEchoes(text)

/** The entries that a backup keeps, by section; if a section has several, the first block counts. */
function entriesBySection(text: string | undefined): Map<number, EchoEntry> {
  const firsts = new Map<number, EchoEntry | undefined>()
  for (const { section, entry } of parsed(text)?.blocks ?? [])
    if (!firsts.has(section)) firsts.set(section, entry)
  return new Map([...firsts].flatMap(([section, entry]) => (entry ? [[section, entry]] : [])))
}

/** Markdown files below a folder, without hidden ones and links. */
function markdownIn(root: string, below: string): string[] {
  return readdirSync(join(root, below), { withFileTypes: true })
    .filter(({ name }) => !name.startsWith('.'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((each) => {
      const path = below === '' ? each.name : `${below}/${each.name}`
      if (each.isDirectory()) return markdownIn(root, path)
      return each.isFile() && each.name.endsWith('.md') ? [path] : []
    })
}

function freeFolder(root: string, day: string): string {
  for (let n = 1; ; n++) {
    const folder = `.backups/migrate-${day}${n === 1 ? '' : `-${n}`}`
    if (orAbsent(() => lstatSync(join(root, folder))) === null) return folder
  }
}
