import { readFileSync } from 'node:fs'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { type HubConfig, parseConfig } from './config.ts'

const prefix = 'RECALL_HUB_'

/**
 * Settings that have a variable, apart from those of the embedding. All others need a file:
 * `RECALL_HUB_CONFIG=hub.json`.
 */
const variables: Record<string, keyof HubConfig> = {
  HOST: 'host',
  PORT: 'port',
  PUBLIC_URL: 'publicUrl',
  CONTACT: 'contact',
  ALLOWED_ORIGINS: 'allowedOrigins',
  PRODUCTION: 'production',
  POSTGRES_URL: 'postgresUrl',
  DATA: 'dataFolder',
  REDIS_URL: 'redisUrl',
  CONNECTIONS: 'connections',
  DATABASE_TIMEOUT_MS: 'databaseTimeoutMs',
  EMBED_TIMEOUT_MS: 'embedTimeoutMs',
  EMBED_ASYNC: 'embedAsync',
  DRAIN_DELAY_MS: 'drainDelayMs',
  MAX_BODY: 'maxBody',
  METRICS_TOKEN: 'metricsToken',
  TEXT_CONFIGURATION: 'textConfiguration',
  PRIVATE_SECRETS: 'privateSecrets',
  BEHIND_PROXY: 'behindProxy',
}

const embeddingVariables: Record<string, string> = {
  EMBEDDING_PROVIDER: 'provider',
  EMBEDDING_URL: 'url',
  EMBEDDING_MODEL: 'model',
  EMBEDDING_DIMENSIONS: 'dimensions',
  EMBEDDING_API_KEY: 'apiKey',
}

/** Every variable that sets something. */
export const variableNames: readonly string[] = [
  'CONFIG',
  ...Object.keys({ ...variables, ...embeddingVariables }),
].map((name) => prefix + name)

/**
 * Reads the settings from environment variables, which take precedence over the file.
 *
 * @throws MemoryError INVALID_INPUT with every problem and its path
 */
export function configFrom(environment: Record<string, string | undefined>): HubConfig {
  refuseServiceLinks(environment)
  const file = environment[`${prefix}CONFIG`]
  const settings = file ? settingsIn(file) : {}
  const embedding: Record<string, string> = {}
  for (const [name, value] of Object.entries(environment)) {
    if (!name.startsWith(prefix) || name === `${prefix}CONFIG` || value === undefined || value === '')
      continue
    const short = name.slice(prefix.length)
    const member = variables[short]
    const ofEmbedding = embeddingVariables[short]
    if (member) settings[member] = value
    else if (ofEmbedding) embedding[ofEmbedding] = value
    // The schema knows all members, and refuses an unknown one.
    else settings[name] = value
  }
  if (Object.keys(embedding).length > 0) settings.embedding = overriding(settings.embedding, embedding)
  return parseConfig(settings)
}

/** Kubernetes tells every container of the services around it, in variables that begin with their names. */
function refuseServiceLinks(environment: Record<string, string | undefined>): void {
  const { [`${prefix}PORT`]: port, [`${prefix}SERVICE_HOST`]: host } = environment
  if (host === undefined && !port?.startsWith('tcp://')) return
  throw new MemoryError(
    'Kubernetes sets RECALL_HUB_PORT and others because there is a service called recall-hub: add enableServiceLinks: false to the spec of the pod, or give the service another name',
    MemoryErrorCode.INVALID_INPUT,
  )
}

/** When a variable names another provider, the file's settings of its own provider do not apply. */
function overriding(known: unknown, given: Record<string, string>): object {
  const { provider } = (known ?? {}) as { provider?: unknown }
  return given.provider && given.provider !== provider ? given : { ...(known as object), ...given }
}

function settingsIn(file: string): Record<string, unknown> {
  const unreadable = (why: string, cause?: unknown): MemoryError =>
    new MemoryError(`${prefix}CONFIG names ${file}, which ${why}`, MemoryErrorCode.INVALID_INPUT, { cause })
  let settings: unknown
  try {
    settings = JSON.parse(readFileSync(file, 'utf8'))
  } catch (cause) {
    throw unreadable(`cannot be read as JSON: ${(cause as Error).message}`, cause)
  }
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings))
    throw unreadable('does not hold a JSON object')
  return settings as Record<string, unknown>
}
