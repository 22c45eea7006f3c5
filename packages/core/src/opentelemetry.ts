import { type Span, SpanKind, SpanStatusCode, type Tracer, trace } from '@opentelemetry/api'
import { isMemoryError } from './errors.ts'
import type { JsonValue } from './json.ts'
import type { MemoryManager, MemoryMatch, ValueTypes } from './memory-manager.ts'
import { refuseUnknownOptions } from './parse-input.ts'
import { countOf, type Operation, type OperationName, wrapOperations } from './protocol/operations.ts'
import { redactJson, redactText } from './redaction/redact.ts'

export interface TraceOptions {
  /** Default: the global tracer named `@recall/core`. */
  tracer?: Tracer | undefined
  /**
   * Record the text of queries and the matches found. Default false, because both may be private. Secrets in them, the
   * values of encrypted entries and written values are never recorded.
   */
  captureContent?: boolean | undefined
  /** Host and port of a remote memory. Gives the spans the kind CLIENT. */
  server?: { address: string; port?: number | undefined } | undefined
}

/**
 * Operations of the GenAI memory conventions (development status, 2026). There, `delete_memory` without a record means
 * the whole store, so calls that delete a part of it have their own names.
 */
const operationNames: Record<OperationName, string> = {
  write: 'upsert_memory',
  read: 'search_memory',
  search: 'search_memory',
  exists: 'search_memory',
  batchRead: 'search_memory',
  batchWrite: 'upsert_memory',
  atomicUpdate: 'update_memory',
  restore: 'update_memory',
  delete: 'delete_memory',
  clear: 'delete_memory',
  cleanup: 'cleanup_memory',
}

const nameOf = ({ name, arguments: [, filter] }: Operation): string =>
  name === 'clear' && Object.keys(filter ?? {}).length > 0 ? 'clear_memory' : operationNames[name]

/**
 * Wraps a memory so that every call is an OpenTelemetry span with the attributes of the GenAI memory conventions.
 * Attributes beyond the conventions start with `recall.`.
 *
 * @throws MemoryError INVALID_INPUT for what is no memory, and for an unknown option
 */
export function traceMemory<Schemas extends ValueTypes>(
  memory: MemoryManager<Schemas>,
  options: TraceOptions = {},
): MemoryManager<Schemas> {
  const { tracer = trace.getTracer('@recall/core'), captureContent = false, server, ...others } = options
  refuseUnknownOptions(others)
  const kind = server ? SpanKind.CLIENT : SpanKind.INTERNAL
  return wrapOperations(memory, (operation, run) => {
    const name = nameOf(operation)
    return tracer.startActiveSpan(
      name,
      { kind, attributes: attributesOf(operation, server) },
      async (span) => {
        try {
          if (captureContent) captureQuery(span, operation)
          const answer = await run()
          const count = countOf(operation.name, answer)
          if (count !== undefined) span.setAttribute('gen_ai.memory.record.count', count)
          if (captureContent && operation.name === 'search') captureRecords(span, answer)
          return answer
        } catch (error) {
          const type = isMemoryError(error) ? error.code : ((error as Error)?.name ?? 'unknown')
          span.setAttribute('error.type', type)
          span.setStatus({ code: SpanStatusCode.ERROR })
          throw error
        } finally {
          span.end()
        }
      },
    )
  })
}

function attributesOf(operation: Operation, server: TraceOptions['server']): Record<string, string | number> {
  const { name, namespace, scope, key } = operation
  return {
    'gen_ai.operation.name': nameOf(operation),
    'gen_ai.provider.name': 'recall',
    'gen_ai.memory.store.id': scope === undefined ? namespace : `${namespace}/${scope}`,
    'recall.operation': name,
    ...(key === undefined ? {} : { 'gen_ai.memory.record.id': key }),
    ...(server ? { 'server.address': server.address } : {}),
    ...(server?.port === undefined ? {} : { 'server.port': server.port }),
  }
}

function captureQuery(span: Span, { name, arguments: given }: Operation): void {
  const text = name === 'search' ? (given[1] as { text?: string } | undefined)?.text : undefined
  if (typeof text === 'string') span.setAttribute('gen_ai.memory.query.text', redactText(text).text)
}

function captureRecords(span: Span, answer: unknown): void {
  const records = (answer as MemoryMatch<unknown>[]).map(({ key, value, score, metadata }) => ({
    id: key,
    ...(metadata.encrypted ? {} : { content: redactJson(value as JsonValue).value }),
    score,
    metadata: redactJson({ type: metadata.type, tags: [...metadata.tags] }).value,
  }))
  span.setAttribute('gen_ai.memory.records', JSON.stringify(records))
}
