import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { install, type Surroundings, type Target, uninstall, type Wiring } from '../src/index.ts'

export const wiringIn = (home: string, command = ['recall']): Wiring => ({
  command,
  version: '1.2.3',
  root: join(home, '.recall'),
  files: {
    curated: join(home, '.recall/memory/MEMORY.md'),
    window: join(home, '.recall/memory/EPHEMERAL.md'),
    archives: join(home, '.recall/memory/conversations'),
  },
  recallPrompts: true,
  consume: false,
})

export const machineIn = (home: string): Surroundings => ({
  home,
  env: {},
  platform: 'linux',
  exists: existsSync,
  readText: (path) => (existsSync(path) ? readFileSync(path, 'utf8') : null),
})

/** Everything below a folder: names, bytes, modes, where links lead. */
export function snapshot(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  const walk = (path: string, name: string): void => {
    const entry = lstatSync(path)
    const mode = (entry.mode & 0o777).toString(8)
    if (entry.isSymbolicLink()) found[name] = `-> ${readlinkSync(path)}`
    else if (entry.isDirectory()) {
      found[`${name}/`] = mode
      for (const child of readdirSync(path)) walk(join(path, child), `${name}/${child}`)
    } else found[name] = `${mode} ${readFileSync(path).toString('base64')}`
  }
  walk(folder, '')
  return found
}

export function write(home: string, files: Record<string, string>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }
}

export function setUp(home: string, target: Target, wiring = wiringIn(home)) {
  const edits = () => target.edits(machineIn(home), wiring)
  const options = { state: join(home, '.recall-state') }
  return {
    install: () => install(target.name, edits(), options),
    uninstall: () => uninstall(target.name, edits(), options),
  }
}
