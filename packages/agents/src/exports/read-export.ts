import { isUtf8 } from 'node:buffer'
import { open, readFile, stat } from 'node:fs/promises'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { parseJson } from '../json.ts'
import { toMemoryError } from '../reading/open-file.ts'
import { withSnapshot } from '../reading/sqlite-snapshot.ts'
import { isAgentmemoryDocument, readAgentmemory } from './agentmemory.ts'
import {
  isClaudeMemDatabase,
  isClaudeMemDocument,
  readClaudeMem,
  readClaudeMemDatabase,
} from './claude-mem.ts'
import { claudeProjects, readClaudeProjects } from './claude-projects.ts'
import type { MemoryExport } from './imported-memory.ts'
import { isGraphDocument, isGraphLine, readGraph } from './knowledge-graph.ts'
import { readMarkdownNote } from './markdown-note.ts'
import { mem0Document, readMem0, readMem0Markdown } from './mem0.ts'
import { isMemoryServiceDocument, readMemoryService } from './memory-service.ts'

/** Largest export: it is held in memory as a whole. */
const mostBytes = 64 * 1024 * 1024
const sqliteHeader = 'SQLite format 3\0'

/** What `readMemoryExport` understands, as messages call it. */
export const memoryFormats: readonly string[] = [
  'graph file of the reference MCP memory server (JSON or JSONL)',
  'export or database of claude-mem',
  'answer of mem0, a list of its memories, or the markdown of its plugin',
  'export of mcp-memory-service',
  'export of agentmemory',
  'projects.json of claude.ai',
  'notes in markdown',
]

export interface ReadExportOptions {
  /** Id of a note without a permalink: its path below the imported folder. */
  name: string
  /** Milliseconds; memories that have expired by then are left out. */
  now: number
}

/**
 * Reads the memories of another tool: the graph file of the reference MCP memory server, claude-mem
 * (export or database), mem0 (answer of the service, plain list or markdown export), mcp-memory-service,
 * agentmemory, the projects of claude.ai, or a note in markdown. The content decides. The file is never changed.
 *
 * @returns `null` when it is none of these
 * @throws MemoryError INVALID_INPUT for a file over 64 MB and one that is not UTF-8, NOT_FOUND or FORBIDDEN when it
 * cannot be read
 */
export async function readMemoryExport(
  path: string,
  options: ReadExportOptions,
): Promise<MemoryExport | null> {
  if (await isDatabase(path)) {
    return withSnapshot(path, (query) => (isClaudeMemDatabase(query) ? readClaudeMemDatabase(query) : null))
  }
  const bytes = await readWhole(path)
  const content = bytes.toString('utf8').replace(/^\uFEFF/, '')
  const found = /\.(?:md|markdown)$/i.test(path)
    ? (readMem0Markdown(content) ?? readMarkdownNote(content, options.name))
    : readJson(content, options.now)
  if (found !== null && !isUtf8(bytes)) throw notUtf8(path)
  return found
}

function readJson(content: string, now: number): MemoryExport | null {
  const value = parseJson(content)
  return value === undefined || isGraphLine(value) ? readLines(content) : readDocument(value, now)
}

function readDocument(value: unknown, now: number): MemoryExport | null {
  if (isClaudeMemDocument(value)) return readClaudeMem(value)
  if (isGraphDocument(value)) return readGraph([...value.entities, ...value.relations])
  if (isMemoryServiceDocument(value)) return readMemoryService(value)
  if (isAgentmemoryDocument(value)) return readAgentmemory(value, now)
  const projects = claudeProjects(value)
  if (projects !== null) return readClaudeProjects(projects)
  const document = mem0Document(value)
  return document === null ? null : readMem0(document, now)
}

function readLines(content: string): MemoryExport | null {
  const lines = content.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map(parseJson)
  if (!values.some(isGraphLine)) return null
  return readGraph(values)
}

async function isDatabase(path: string): Promise<boolean> {
  try {
    const file = await open(path, 'r')
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0)
      return buffer.subarray(0, bytesRead).toString('latin1') === sqliteHeader
    } finally {
      await file.close()
    }
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

async function readWhole(path: string): Promise<Buffer> {
  try {
    const { size } = await stat(path)
    if (size > mostBytes) {
      throw new MemoryError(
        `${path} has ${Math.round(size / 1e6)} MB; an export may have ${mostBytes / 1024 / 1024}. Split it`,
        MemoryErrorCode.INVALID_INPUT,
        { details: { path } },
      )
    }
    return await readFile(path)
  } catch (error) {
    throw toMemoryError(path, error)
  }
}

const notUtf8 = (path: string): MemoryError =>
  new MemoryError(`${path} is not UTF-8 text: save it as UTF-8 first`, MemoryErrorCode.INVALID_INPUT, {
    details: { path },
  })
