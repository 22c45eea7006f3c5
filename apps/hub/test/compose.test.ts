import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { configFrom } from '../src/config/environment.ts'

interface Service {
  image?: string
  build?: unknown
  environment?: Record<string, string>
  healthcheck?: { test: string[] }
  shm_size?: string
  volumes?: string[]
  ports?: string[]
}

const root = fileURLToPath(new URL('../../..', import.meta.url))
const read = (name: string): string => readFileSync(new URL(`../deploy/${name}`, import.meta.url), 'utf8')
const { services, volumes } = parse(read('compose.yaml')) as {
  services: Record<'api' | 'postgres' | 'redis' | 'caddy', Service>
  volumes: Record<string, unknown>
}

/** As compose does it, with values for what the file wants from outside. */
const filled = (text: string): string =>
  text.replace(/\$\{(\w+)(:-)?[^}]*\}/g, (_, name, optional) =>
    optional ? '' : `${name.toLowerCase()}-0123456789`,
  )

// Containers cannot be started where these tests run: this is what can be said of the files without.
it('composes the hub, Postgres, Redis and Caddy, each with a health check', () => {
  expect(Object.keys(services).sort()).toEqual(['api', 'caddy', 'postgres', 'redis'])
  for (const { healthcheck } of Object.values(services)) expect(healthcheck?.test[0]).toBe('CMD')
  expect(services.postgres.shm_size).toBe('1gb')
  // Only Caddy is reached from outside.
  expect(Object.values(services).flatMap(({ ports = [] }) => ports)).toEqual(services.caddy.ports)
})

it('keeps data in named volumes', () => {
  const used = Object.values(services).flatMap(({ volumes: own = [] }) =>
    own.map((each) => each.split(':')[0] ?? ''),
  )
  expect(used.filter((name) => !name.startsWith('.')).sort()).toEqual(Object.keys(volumes).sort())
})

it('gives the hub settings that production takes', () => {
  const environment = Object.fromEntries(
    Object.entries(services.api.environment ?? {}).map(([name, value]) => [name, filled(value)]),
  )
  expect(configFrom(environment)).toMatchObject({
    production: true,
    behindProxy: true,
    host: '0.0.0.0',
    redisUrl: 'redis://redis:6379',
  })
})

it('runs as nobody in particular', () => {
  expect(read('Dockerfile').trim().split('\n').slice(-4)).toContain('USER node')
})

it('builds the image from what is in the repository, and from nothing that lies beside it', () => {
  const ignored = read('Dockerfile.dockerignore').split('\n')
  for (const each of ['.git', '**/node_modules', '**/dist', '**/.env*', '**/.recall*'])
    expect(ignored).toContain(each)
})

it('gives the image the native runtime of the model, which a build has installed', () => {
  const [, pattern = ''] = /cp -rL (\S+)\/node_modules\/onnxruntime-\*/.exec(read('Dockerfile')) ?? []
  const [folder = '', name = ''] = [dirname(pattern), basename(pattern).replace('*', '')]
  const installed = readdirSync(join(root, folder)).filter((each) => each.startsWith(name))
  expect(installed).toHaveLength(1)
  const parts = readdirSync(join(root, folder, String(installed), 'node_modules'))
  expect(parts).toEqual(expect.arrayContaining(['onnxruntime-common', 'onnxruntime-node']))
})
