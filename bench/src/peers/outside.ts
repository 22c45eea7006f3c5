import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { run } from '../processes.ts'

/**
 * Peers too heavy to be dependencies of this workspace (a hundred packages, or compiled during installation). npm
 * installs them, in these versions, into a folder of the bench when they are first measured.
 */
export const versions = {
  vectra: '0.12.3',
  '@modelcontextprotocol/server-memory': '2026.8.31',
  mem0ai: '3.3.1',
  '@tobilu/qmd': '2.8.3',
} as const

export type Outside = keyof typeof versions

/** What else a peer needs, and whether it must be compiled here. */
const extras: Partial<Record<Outside, { packages: string[]; compiles?: boolean }>> = {
  mem0ai: { packages: ['better-sqlite3@12.11.1'], compiles: true },
  '@tobilu/qmd': { packages: [`node-${process.platform}-${process.arch}@22.23.3`] },
}

/** Works from `bench/dist`, where the measured program lies, and from `bench/src/peers`. */
export const bench = import.meta.dirname.replace(/[\\/](dist|src[\\/]peers)$/, '')
const folderOf = (name: Outside): string =>
  join(bench, 'node_modules', '.cache', 'peers', name.replace(/\W+/g, '-'))
const requireFrom = (name: Outside): NodeJS.Require => createRequire(join(folderOf(name), 'package.json'))

/** The path of a file of an installed peer. */
export const pathInPeer = (name: Outside, path: string): string => join(folderOf(name), 'node_modules', path)

/** Loads an installed peer. */
export const importPeer = async <Module>(name: Outside, path: string = name): Promise<Module> =>
  (await import(pathToFileURL(requireFrom(name).resolve(path)).href)) as Module

/** Installs a peer unless it is there; returns why it could not be installed, if so. */
export function installPeer(name: Outside): string | undefined {
  const folder = folderOf(name)
  const done = join(folder, 'installed')
  const wanted = [`${name}@${versions[name]}`, ...(extras[name]?.packages ?? [])]
  if (existsSync(done) && readFileSync(done, 'utf8') === wanted.join(' ')) return undefined
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "private": true }\n')
  const scripts = extras[name]?.compiles ? [] : ['--ignore-scripts']
  const ran = run(
    'npm',
    ['install', '--no-audit', '--no-fund', '--save-exact', ...scripts, ...wanted],
    folder,
  )
  if (ran.code !== 0) return `npm could not install ${wanted.join(' ')}`
  writeFileSync(done, wanted.join(' '))
  return undefined
}
