import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { targets } from '@recall/agents'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { commands } from '../src/commands.ts'

const repository = fileURLToPath(new URL('../../..', import.meta.url))
const read = (path: string): string => readFileSync(join(repository, path), 'utf8')
const json = <T = Record<string, unknown>>(path: string): T => JSON.parse(read(path)) as T
const manifest = json<{ name: string; version: string; mcpName: string }>('apps/cli/package.json')

/** A command line that stands in a package must be one of ours. */
function expectOurs(command: string): void {
  const [program, name, event] = command.split(' ')
  expect(program).toBe('recall')
  expect(commands.map((each) => each.name)).toContain(name)
  if (name === 'hook')
    expect(event).toMatch(/^(session-start|prompt|pre-compact|post-compact|session-end|stop)$/)
}

describe('the plugin for Claude Code', () => {
  const plugin = json('plugins/recall/.claude-plugin/plugin.json')

  it('has a manifest with known members only, and its parts at the root of the plugin', () => {
    const known = [
      'name',
      'displayName',
      'version',
      'description',
      'author',
      'homepage',
      'repository',
      'license',
      'keywords',
    ]
    expect(known).toEqual(expect.arrayContaining(Object.keys(plugin)))
    expect(plugin.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(plugin.version).toBe(manifest.version)
    for (const part of ['hooks/hooks.json', '.mcp.json', 'skills/recall/SKILL.md']) {
      expect(existsSync(join(repository, 'plugins/recall', part)), part).toBe(true)
    }
  })

  it('hooks the same events as recall init, with the same time, and nothing that needs no answer waits long', () => {
    const { hooks } = json<{
      hooks: Record<
        string,
        { matcher?: string; hooks: { type: string; command: string; timeout: number }[] }[]
      >
    }>('plugins/recall/hooks/hooks.json')
    const claude = targets.find(({ name }) => name === 'claude')
    const machine = {
      home: '/home/ana',
      env: {},
      platform: 'linux' as const,
      exists: () => true,
      readText: () => null,
    }
    const files = { curated: '/m', window: '/w', archives: '/a' }
    const wiring = {
      command: ['recall'],
      version: '1',
      root: '/r',
      files,
      recallPrompts: false,
      consume: false,
    }
    const settings =
      claude
        ?.edits(machine, wiring)
        .find(({ path }) => path.endsWith('settings.json'))
        ?.add(null) ?? ''
    expect(Object.keys(hooks)).toEqual(Object.keys((JSON.parse(settings) as { hooks: object }).hooks))
    for (const [entry] of Object.values(hooks)) {
      expect(entry?.matcher).toBeUndefined()
      const [hook] = entry?.hooks ?? []
      expect(hook).toMatchObject({ type: 'command', timeout: 10 })
      expectOurs(hook?.command ?? '')
    }
  })

  it('starts the MCP server, with a type', () => {
    const { mcpServers } = json<{
      mcpServers: Record<string, { type: string; command: string; args: string[] }>
    }>('plugins/recall/.mcp.json')
    expect(mcpServers.recall?.type).toBe('stdio')
    expectOurs([mcpServers.recall?.command, ...(mcpServers.recall?.args ?? [])].join(' '))
  })

  it('is listed in a marketplace whose source leads to it', () => {
    const market = json<{
      name: string
      owner: { name: string }
      plugins: { name: string; source: string }[]
    }>('.claude-plugin/marketplace.json')
    expect(market.name).toMatch(/^[a-z0-9-]+$/)
    expect(market.owner.name).not.toBe('')
    for (const { name, source } of market.plugins) {
      expect(source).toMatch(/^\.\//)
      expect(json(join(source, '.claude-plugin/plugin.json')).name).toBe(name)
    }
  })
})

it.each(['plugins/recall/skills/recall/SKILL.md', 'clients/openclaw/SKILL.md', 'clients/moltbook/SKILL.md'])(
  '%s is an Agent Skill that every host takes',
  (path) => {
    const [, head = '', body = ''] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(read(path)) ?? []
    const fields = parse(head) as Record<string, string>
    const portable = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools']
    expect(portable).toEqual(expect.arrayContaining(Object.keys(fields)))
    expect(fields.name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/)
    expect(fields.name?.length).toBeLessThanOrEqual(64)
    if (path.includes('/skills/')) expect(fields.name).toBe(basename(dirname(path)))
    expect(fields.description?.length).toBeGreaterThan(0)
    expect(fields.description?.length).toBeLessThanOrEqual(1024)
    expect((fields.compatibility ?? '').length).toBeLessThanOrEqual(500)
    expect(body.split('\n').length).toBeLessThan(500)
  },
)

it('server.json is what the MCP registry takes, and names this package', () => {
  const server = json<{
    $schema: string
    name: string
    description: string
    version: string
    packages: {
      registryType: string
      identifier: string
      version: string
      transport: { type: string }
      packageArguments: { type: string; value: string }[]
      environmentVariables: { name: string; isSecret: boolean }[]
    }[]
  }>('plugins/server.json')
  expect(server.$schema).toMatch(/\/schemas\/2025-12-11\/server\.schema\.json$/)
  expect(server.name).toMatch(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/)
  expect(server.name).toBe(manifest.mcpName)
  expect(server.description.length).toBeLessThanOrEqual(100)
  expect(server.version).toBe(manifest.version)
  const [entry] = server.packages
  expect(entry).toMatchObject({
    registryType: 'npm',
    identifier: manifest.name,
    version: manifest.version,
    transport: { type: 'stdio' },
  })
  expectOurs(`recall ${entry?.packageArguments.map(({ value }) => value).join(' ')}`)
  for (const { name, isSecret } of entry?.environmentVariables ?? []) {
    expect(read('docs/cli.md')).toContain(name)
    expect(isSecret).toBe(name.endsWith('_KEY'))
  }
})
