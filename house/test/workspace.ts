import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = fileURLToPath(new URL('../..', import.meta.url))

type Conditions = Record<string, string>

export interface Manifest {
  name: string
  private?: boolean
  license?: string
  type?: string
  files?: string[]
  engines?: { node?: string }
  sideEffects?: boolean
  exports?: Record<string, Conditions>
  publishConfig?: { exports?: Record<string, Conditions> }
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  peerDependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

export interface Workspace {
  /** Path below the repository's root. */
  folder: string
  manifest: Manifest
}

export const read = (path: string): string => readFileSync(join(root, path), 'utf8')

const inGroup = (group: string): Workspace[] =>
  readdirSync(join(root, group))
    .map((name) => `${group}/${name}`)
    .filter((folder) => existsSync(join(root, folder, 'package.json')))
    .map((folder) => ({ folder, manifest: JSON.parse(read(`${folder}/package.json`)) as Manifest }))

/** The libraries. */
export const libraries = inGroup('packages')
/** What composes the libraries. */
export const apps = inGroup('apps')

/** Every file below a folder of the repository, as paths below its root. */
export function filesIn(folder: string, ending: string): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/(?:^|\/)(?:node_modules|dist|\.turbo)\//.test(path))
    .sort()
}

/** Every document that is kept, but for what only a test reads. */
export const documents = (): string[] =>
  execFileSync('git', ['ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !/\/fixtures\//.test(path) && existsSync(join(root, path)))

export const isTest = (path: string): boolean => /\.test(?:-d)?\.ts$|\/test\//.test(path)

/** What a workspace ships: its sources without tests. */
export const sourcesOf = ({ folder }: Workspace): string[] =>
  filesIn(`${folder}/src`, '.ts').filter((path) => !isTest(path))
