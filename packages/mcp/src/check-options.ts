import { invalidInput, refuseUnknownOptions } from '@recall/core'
import type { McpHandlerOptions, McpOptions } from './options.ts'

/**
 * Checks the options of a server before it is asked anything: a wrong one would fail in every call of a tool.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function checkMcpOptions(options: McpOptions): void {
  // An untyped program may pass no options.
  const { memory, hub, forget, notSearched, version, ...others } = options ?? {}
  refuseUnknownOptions(others)
  if (!hasMethods(memory, 'read')) refuse('memory', 'must be a memory, such as that of createMemoryManager')
  if (hub !== undefined && !hasMethods(hub, 'search', 'get', 'save', 'cite'))
    refuse('hub', 'must be a hub, such as that of connectHub')
  refuseNoFunction({ forget, notSearched })
  if (version !== undefined && typeof version !== 'string') refuse('version', 'must be a text')
}

/**
 * Checks the options of a handler before the first request, to which a wrong one would be an internal error.
 *
 * @throws MemoryError INVALID_INPUT
 */
export function checkHandlerOptions(options: McpHandlerOptions): void {
  const { optionsFor, allowedHosts = [], allowedOrigins = [], onError, ...others } = options ?? {}
  refuseUnknownOptions(others)
  if (typeof optionsFor !== 'function')
    refuse('optionsFor', 'must be a function: it gives the options of a server, such as { memory }')
  refuseOtherHosts('allowedHosts', allowedHosts, isHostName)
  refuseOtherHosts('allowedOrigins', allowedOrigins, (name) => isHostName(name) || isSchemeOfExtensions(name))
  refuseNoFunction({ onError })
}

function refuse(option: string, message: string): never {
  throw invalidInput('options', [{ path: [option], message }])
}

function refuseNoFunction(given: Record<string, unknown>): void {
  for (const [name, call] of Object.entries(given))
    if (call !== undefined && typeof call !== 'function') refuse(name, 'must be a function')
}

function refuseOtherHosts(option: string, names: unknown, isRight: (name: unknown) => boolean): void {
  if (Array.isArray(names) && names.every(isRight)) return
  const example = "['app.example.org']"
  refuse(option, `must be a list of host names in small letters, without scheme and port, such as ${example}`)
}

const hasMethods = (given: object | null | undefined, ...names: string[]): boolean =>
  names.every((name) => typeof (given as Record<string, unknown> | null | undefined)?.[name] === 'function')

/** Whether it can be the host name of an address. Names are compared as a whole: none stands for several. */
const isHostName = (name: unknown): boolean =>
  typeof name === 'string' &&
  !name.includes('*') &&
  URL.canParse(`http://${name}`) &&
  new URL(`http://${name}`).hostname === name

/** Some browsers give an extension another host name on every machine. */
const isSchemeOfExtensions = (name: unknown): boolean =>
  typeof name === 'string' && /^(?!https?:)[a-z][a-z\d+.-]*:\/\/\*$/.test(name)
