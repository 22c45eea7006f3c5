import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { apps, filesIn, libraries, type Manifest, read, root, type Workspace } from './workspace.ts'

describe.each([...libraries, ...apps])('$folder', ({ folder, manifest }: Workspace) => {
  it('says what people and tools need to know', () => {
    expect(manifest).toMatchObject({
      license: 'MIT',
      type: 'module',
      engines: { node: '^20.19.0 || >=22.13.0' },
    })
    expect(manifest.files).toEqual(expect.arrayContaining(['dist', 'CHANGELOG.md']))
    expect(manifest.scripts).toMatchObject({
      build: expect.any(String),
      test: expect.any(String),
    })
    expect(read(`${folder}/README.md`)).toMatch(new RegExp(`^# ${manifest.name}\n`))
  })

  it('runs no code when it is installed', () => {
    const hooks = Object.keys(manifest.scripts ?? {}).filter((name) =>
      /^(?:pre|post)?install$|^prepare$/.test(name),
    )
    expect(hooks).toEqual([])
  })
})

describe.each(libraries)('$folder', ({ folder, manifest }: Workspace) => {
  const entries = Object.entries(manifest.exports ?? {})

  it('exports sources first, then types, then code', () => {
    expect(entries).not.toEqual([])
    for (const [, conditions] of entries) {
      expect(Object.keys(conditions)).toEqual(['@recall/source', 'types', 'default'])
      expect(existsSync(join(root, folder, conditions['@recall/source'] ?? ''))).toBe(true)
    }
    expect(manifest.sideEffects).toBe(false)
  })

  it('is published with the same entries, without the sources', () => {
    const published = entries.map(([entry, { types, default: code }]) => [entry, { types, default: code }])
    expect(manifest.publishConfig?.exports).toEqual(Object.fromEntries(published))
  })

  it('names what its index exports', () => {
    for (const [, conditions] of entries) {
      expect(read(join(folder, conditions['@recall/source'] ?? ''))).not.toMatch(/export \*|export default/)
    }
  })
})

it('every changeset names packages that are published, and says something', () => {
  const names = [...libraries, ...apps].map(({ manifest }) => manifest.name)
  for (const path of filesIn('.changeset', '.md')) {
    const [, head = '', text = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read(path)) ?? []
    const named = [...head.matchAll(/^(['"])(.+)\1: (?:patch|minor|major)$/gm)].map(([, , name]) => name)
    expect(named, path).not.toEqual([])
    expect(names, path).toEqual(expect.arrayContaining(named))
    expect(text.trim(), path).not.toBe('')
  }
})

it('packages that are not published have no part in a release', () => {
  const { fixed } = JSON.parse(read('.changeset/config.json')) as { fixed: string[][] }
  const [all, ...others] = fixed.flat()
  expect(all).toBe('@recall/*')
  const isLeftOut = (name: string): boolean =>
    others.some((pattern) => name.startsWith(pattern.replace(/^!/, '').replace(/\*$/, '')))
  const ours = filesIn('.', 'package.json')
    .map((path) => JSON.parse(read(path)) as Manifest)
    .filter(({ name }) => name?.startsWith('@recall/'))
  for (const { name, private: isPrivate = false } of ours) expect(isLeftOut(name), name).toBe(isPrivate)
})
