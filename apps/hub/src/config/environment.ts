import { readFileSync } from 'node:fs'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type HubConfig, parseConfig } from './config.ts'

const prefix = 'RECALL_HUB_'

/** Objects are set by a file: `RECALL_HUB_CONFIG=hub.json`. */
const variables: Record<string, keyof HubConfig> = {
  HOST: 'host',
  PORT: 'port',
  PUBLIC_URL: 'publicUrl',
  CONTACT: 'contact',
  PRODUCTION: 'production',
  POSTGRES_URL: 'postgresUrl',
  DATA: 'dataFolder',
  REDIS_URL: 'redisUrl',
  CONNECTIONS: 'connections',
  DATABASE_TIMEOUT_MS: 'databaseTimeoutMs',
  EMBED_TIMEOUT_MS: 'embedTimeoutMs',
  EMBED_ASYNC: 'embedAsync',
  MAX_BODY: 'maxBody',
  METRICS_TOKEN: 'metricsToken',
  TEXT_CONFIGURATION: 'textConfiguration',
  PRIVATE_SECRETS: 'privateSecrets',
  BEHIND_PROXY: 'behindProxy',
}

/**
 * The settings of an environment; a variable wins over the file.
 *
 * @throws MemoryError INVALID_INPUT with every problem and its path
 */
export function configFrom(environment: Record<string, string | undefined>): HubConfig {
  const file = environment[`${prefix}CONFIG`]
  const settings = file ? settingsIn(file) : {}
  const unknown: string[] = []
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(prefix) || name === `${prefix}CONFIG` || value === undefined || value === '')
      continue
    const member = variables[name.slice(prefix.length)]
    if (member) settings[member] = value
    else if (!name.startsWith(`${prefix}EMBEDDING_`)) unknown.push(name)
  }
  const embedding = embeddingFrom(environment)
  if (embedding) settings.embedding = embedding
  // An unknown setting is found by the schema, which knows all members.
  for (const name of unknown) settings[name] = environment[name]
  return parseConfig(settings)
}

function settingsIn(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw new MemoryError(
      `${prefix}CONFIG names ${file}, which cannot be read as JSON: ${(cause as Error).message}`,
      MemoryErrorCode.INVALID_INPUT,
      { cause },
    )
  }
}

function embeddingFrom(environment: Record<string, string | undefined>): object | undefined {
  const read = (name: string): string | undefined => environment[`${prefix}EMBEDDING_${name}`]
  const provider = read('PROVIDER')
  if (provider !== 'http') return provider ? { provider } : undefined
  const [url, model, dimensions, apiKey] = ['URL', 'MODEL', 'DIMENSIONS', 'API_KEY'].map(read)
  return { provider, url, model, dimensions, ...(apiKey ? { apiKey } : {}) }
}
