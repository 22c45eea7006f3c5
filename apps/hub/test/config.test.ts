import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMemoryError } from '@recall/core'
import { describe, expect, it } from 'vitest'
import { parseConfig } from '../src/config/config.ts'
import { configFrom } from '../src/config/environment.ts'
import { temporaryFolder } from './support/temporary-folder.ts'

/** What is said to be wrong, by path. */
const wrongIn = (read: () => unknown): Record<string, string> => {
  try {
    read()
  } catch (error) {
    if (!isMemoryError(error)) throw error
    const issues = error.details?.issues as { path: string; message: string }[]
    return Object.fromEntries(issues.map(({ path, message }) => [path, message]))
  }
  return {}
}

const fileOf = (settings: unknown): string => {
  const path = join(temporaryFolder(), 'hub.json')
  writeFileSync(path, JSON.stringify(settings))
  return path
}

const http = { provider: 'http', url: 'https://embed.example/v1', model: 'm', dimensions: 3 }
const httpVariables = {
  RECALL_HUB_EMBEDDING_URL: http.url,
  RECALL_HUB_EMBEDDING_MODEL: http.model,
  RECALL_HUB_EMBEDDING_DIMENSIONS: '3',
}

describe('the environment', () => {
  it('sets an embedding provider whole', () => {
    const environment = {
      ...httpVariables,
      RECALL_HUB_EMBEDDING_PROVIDER: 'http',
      RECALL_HUB_EMBEDDING_API_KEY: 'k',
    }
    expect(configFrom(environment).embedding).toEqual({ ...http, apiKey: 'k' })
    expect(configFrom({ RECALL_HUB_EMBEDDING_URL: '' }).embedding).toEqual({ provider: 'local' })
  })

  it('is refused where it names half of a provider, another one, or what nobody knows', () => {
    expect(wrongIn(() => configFrom(httpVariables))).toEqual({
      'embedding.provider': expect.stringContaining('name the provider'),
    })
    expect(wrongIn(() => configFrom({ RECALL_HUB_EMBEDDING_PROVIDER: 'openai' }))).toEqual({
      'embedding.provider': expect.stringContaining('name the provider'),
    })
    const local = { ...httpVariables, RECALL_HUB_EMBEDDING_PROVIDER: 'local' }
    expect(wrongIn(() => configFrom(local)).embedding).toContain('"url"')
    const misspelt = { RECALL_HUB_EMBEDDING_APIKEY: 'k', RECALL_HUB_EMBEDDINGS: 'x', RECALL_HUB_URL: 'x' }
    expect(wrongIn(() => configFrom(misspelt))['']).toMatch(/EMBEDDING_APIKEY.*EMBEDDINGS.*HUB_URL/)
  })

  it('is told what a switch and a number must be', () => {
    const wrong = { RECALL_HUB_PRODUCTION: 'maybe', RECALL_HUB_PORT: 'abc', RECALL_HUB_CONNECTIONS: 'ten' }
    expect(wrongIn(() => configFrom(wrong))).toEqual({
      production: 'must be true or false',
      port: 'must be a number',
      connections: 'must be a number',
    })
  })

  it('is told the bound that a number crosses, and that it must be whole', () => {
    const wrong = {
      RECALL_HUB_PORT: '70000',
      RECALL_HUB_CONNECTIONS: '0',
      RECALL_HUB_EMBED_TIMEOUT_MS: '1.5',
    }
    expect(wrongIn(() => configFrom(wrong))).toEqual({
      port: expect.stringContaining('65535'),
      connections: expect.stringContaining('>0'),
      embedTimeoutMs: 'must be a whole number',
    })
  })

  it('is not told that a number must be whole that is only too large', () => {
    const message = expect.not.stringContaining('whole')
    for (const name of ['port', 'privateTotalBytes'])
      expect(() => parseConfig({ [name]: 2 ** 53 })).toThrow(expect.objectContaining({ message }))
  })

  it('names the origins of pages with commas between them, each as a browser sends it', () => {
    const origins = (text: string) => ({ RECALL_HUB_ALLOWED_ORIGINS: text })
    const two = 'https://a.example, http://localhost:3000'
    expect(configFrom(origins(two)).allowedOrigins).toEqual(two.split(', '))
    for (const wrong of ['https://a.example/', 'https://A.example', 'a.example', `${two},`, '*'])
      expect(Object.values(wrongIn(() => configFrom(origins(wrong)))), wrong).toEqual([
        expect.stringContaining('must be an origin'),
      ])
  })

  it('wins over the file, and leaves what it does not name', () => {
    const file = fileOf({ embedding: http, port: 1 })
    const base = { RECALL_HUB_CONFIG: file, RECALL_HUB_PORT: '2' }
    expect(configFrom({ ...base, RECALL_HUB_EMBEDDING_API_KEY: 'k' })).toMatchObject({
      port: 2,
      embedding: { ...http, apiKey: 'k' },
    })
    expect(configFrom({ ...base, RECALL_HUB_EMBEDDING_PROVIDER: 'fake' }).embedding).toEqual({
      provider: 'fake',
    })
  })

  it.each([
    { RECALL_HUB_PORT: 'tcp://10.0.0.7:8787', RECALL_HUB_PORT_8787_TCP: 'tcp://10.0.0.7:8787' },
    { RECALL_HUB_PORT: '8787', RECALL_HUB_SERVICE_HOST: '10.0.0.7', RECALL_HUB_SERVICE_PORT: '8787' },
  ])('is told what to do about the variables of a Kubernetes service: %j', (environment) => {
    expect(() => configFrom(environment)).toThrow('enableServiceLinks: false')
  })

  it('names a file that holds no settings', () => {
    for (const none of [null, [], 'x', 1]) {
      expect(() => configFrom({ RECALL_HUB_CONFIG: fileOf(none), RECALL_HUB_PORT: '2' })).toThrow(
        'does not hold a JSON object',
      )
    }
    const absent = join(temporaryFolder(), 'absent.json')
    expect(() => configFrom({ RECALL_HUB_CONFIG: absent })).toThrow(
      'absent.json, which cannot be read as JSON: ENOENT',
    )
  })
})

describe('settings', () => {
  it('are refused where no timer and no date could hold them', () => {
    const month = { requests: 1, seconds: 30 * 24 * 60 * 60 }
    const settings = {
      embedTimeoutMs: 2 ** 31,
      limits: { register: [month] },
      trust: { heartbeatDays: 200_000_000 },
    }
    expect(Object.keys(wrongIn(() => parseConfig(settings))).sort()).toEqual([
      'embedTimeoutMs',
      'limits.register.0.seconds',
      'trust.heartbeatDays',
    ])
  })

  it('are refused where they are more than there is, or could not be meant', () => {
    const wrong = {
      contact: 'http://hub.example/contact',
      metricsToken: 'fifteen letters',
      textConfiguration: '',
      privateTotalBytes: 2 ** 53,
      connections: 10_001,
      thresholds: { crowd: 1.1, minSimilarity: -0.1 },
      embedding: { provider: 'fake', model: 'm' },
      limits: { tiers: { nobody: {}, core: { delete: [] } }, mcp: [{ requests: 1, seconds: 60, hours: 1 }] },
    }
    expect(Object.keys(wrongIn(() => parseConfig(wrong))).toSorted()).toEqual([
      'connections',
      'contact',
      'embedding',
      'limits.mcp.0',
      'limits.tiers',
      'limits.tiers.core',
      'metricsToken',
      'privateTotalBytes',
      'textConfiguration',
      'thresholds.crowd',
      'thresholds.minSimilarity',
    ])
    expect(parseConfig({ privateTotalBytes: 2 ** 40 }).privateTotalBytes).toBe(2 ** 40)
  })

  it('are refused where an address has no scheme, and would be taken for another', () => {
    const embedding = { ...http, url: 'localhost:11434/v1' }
    const settings = { publicUrl: 'hub.example:8787', postgresUrl: 'postgres:5432', redisUrl: 'redis:6379' }
    expect(wrongIn(() => parseConfig({ ...settings, embedding }))).toEqual({
      publicUrl: expect.stringContaining('https://'),
      postgresUrl: expect.stringContaining('postgres://'),
      redisUrl: expect.stringContaining('redis://'),
      'embedding.url': expect.stringContaining('https://'),
    })
  })

  it('are refused where an address has a scheme of another sort, and only that is told', () => {
    const embedding = { ...http, url: 'unix+http://localhost' }
    const settings = {
      publicUrl: 'httpx://hub.example',
      postgresUrl: 'jdbc:postgresql://db',
      redisUrl: '//redis',
    }
    expect(wrongIn(() => parseConfig({ ...settings, embedding }))).toEqual({
      publicUrl: expect.stringContaining('must be an address that begins with http'),
      postgresUrl: expect.stringContaining('must begin with postgres://'),
      redisUrl: expect.stringContaining('must begin with redis://'),
      'embedding.url': expect.stringContaining('must be an address that begins with http'),
    })
    const known = { postgresUrl: 'postgresql://db', redisUrl: 'rediss://redis' }
    expect(parseConfig(known)).toMatchObject(known)
  })

  it('are refused where the address that everybody is shown holds more than a place', () => {
    for (const rest of [
      'ana:s3cret@hub.example',
      'ana@hub.example',
      'hub.example/?key=s3cret',
      'hub.example/#top',
      'hub.example/?',
    ])
      expect(
        wrongIn(() => parseConfig({ publicUrl: `https://${rest}` })),
        rest,
      ).toEqual({
        publicUrl: expect.stringMatching(/^(?!.*s3cret)must have no user, password, query or fragment/),
      })
    expect(Object.keys(wrongIn(() => parseConfig({ publicUrl: 'https://' })))).toEqual(['publicUrl'])
    for (const publicUrl of ['https://hub.example', 'https://hub.example:8443/recall/@here/'])
      expect(parseConfig({ publicUrl }).publicUrl).toBe(publicUrl)
  })

  it('are refused where Redis could not be called by its address, which is not repeated', () => {
    for (const rest of ['s3cret%zz@localhost', 's3/cret@localhost', 's3cret@localhost:66000', 's3cret@[::1'])
      expect(wrongIn(() => parseConfig({ redisUrl: `redis://:${rest}` }))).toEqual({
        redisUrl: expect.stringMatching(/^(?!.*s3).*percent-encoded/),
      })
    expect(Object.keys(wrongIn(() => parseConfig({ redisUrl: 'redis://us%zzer:secret@localhost' })))).toEqual(
      ['redisUrl'],
    )
    for (const rest of ['/tmp/redis.sock', ':s3%25cret@localhost:6380/2', '[::1]:6379'])
      expect(parseConfig({ redisUrl: `redis://${rest}` }).redisUrl).toBe(`redis://${rest}`)
  })

  it('are refused where a request would count twice', () => {
    const window = { requests: 5, seconds: 60 }
    expect(Object.keys(wrongIn(() => parseConfig({ limits: { mcp: [window, window] } })))).toEqual([
      'limits.mcp',
    ])
  })

  it('are refused where they contradict each other', () => {
    const thresholds = {
      minContent: 500,
      maxContent: 100,
      minTags: 9,
      maxTags: 2,
      autoDuplicate: 0.9,
      related: 0.95,
    }
    expect(wrongIn(() => parseConfig({ thresholds }))).toEqual({
      'thresholds.minContent': 'must not be greater than maxContent',
      'thresholds.minTags': 'must not be greater than maxTags',
      'thresholds.related': 'must not be greater than duplicate',
      'thresholds.duplicate': 'must not be greater than autoDuplicate',
    })
    expect(parseConfig({ thresholds: { minTags: 3, maxTags: 3, duplicate: 0.97 } }).thresholds).toMatchObject(
      {
        minTags: 3,
        duplicate: 0.97,
      },
    )
  })

  it('are told all that is wrong at once, also what only production wants', () => {
    const wrong = {
      port: 'x',
      production: 'true',
      embedding: { provider: 'fake' },
      thresholds: { duplicate: 'x', minTags: 9, maxTags: 2 },
      limits: { register: [] },
      nothing: 1,
    }
    expect(Object.keys(wrongIn(() => parseConfig(wrong))).toSorted()).toEqual([
      '',
      'embedding',
      'limits.register',
      'port',
      'postgresUrl',
      'publicUrl',
      'thresholds.duplicate',
      'thresholds.minTags',
    ])
  })

  it('are told as wrong where production compares what is no text', () => {
    const wrong = { production: true, postgresUrl: 'postgres://localhost/recall', publicUrl: 5 }
    expect(Object.keys(wrongIn(() => parseConfig(wrong)))).toEqual(['publicUrl'])
  })

  it('are refused where they are no object, as anything else is', () => {
    for (const none of [null, undefined, 'x', []])
      expect(Object.keys(wrongIn(() => parseConfig(none)))).toEqual([''])
    expect(() => parseConfig(null)).toThrow('\n  settings: ')
    for (const none of [null, 'x', []])
      expect(Object.keys(wrongIn(() => parseConfig({ thresholds: none })))).toEqual(['thresholds'])
  })

  it.each([null, '', ' ', '5px', [], [5], true, {}].map((none) => ({ none })))(
    'take $none for no number',
    ({ none }) => {
      const wrong = wrongIn(() => parseConfig({ port: none, thresholds: { minTags: none, related: none } }))
      expect(wrong).toEqual({
        port: 'must be a number',
        'thresholds.minTags': 'must be a number',
        'thresholds.related': 'must be a number',
      })
    },
  )

  it('change one number and leave those beside it', () => {
    const standard = parseConfig({})
    const write = [{ requests: 3, seconds: 60 }]
    const episodic = 10 * 1024 ** 3
    const changed = parseConfig({
      limits: { tiers: { trusted: { write } } },
      privateBytes: { working: 5, episodic },
    })
    expect(changed).toEqual({
      ...standard,
      limits: {
        ...standard.limits,
        tiers: { ...standard.limits.tiers, trusted: { ...standard.limits.tiers.trusted, write } },
      },
      privateBytes: { ...standard.privateBytes, working: 5, episodic },
    })
  })
})

it('docs/operations.md shows every setting without a variable, with its default', () => {
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8')
  const shown = JSON.parse(/^```json\n([\s\S]*?)^```$/m.exec(page)?.[1] ?? '')
  const { limits, thresholds, trust, privateBytes, privateTotalBytes, privateNamespaces } = parseConfig({})
  const { unverified } = limits.tiers
  expect(shown).toEqual({
    limits: { ...limits, tiers: { unverified } },
    thresholds,
    trust,
    privateBytes,
    privateTotalBytes,
    privateNamespaces,
  })
})
