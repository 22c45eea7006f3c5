import type { MemoryScope } from '@recall/core'
import type { Statement } from '../sqlite/driver.ts'
import { keptNamespace } from './document-row.ts'
import { scopeNumbers } from './schema.ts'

/** Whether a scope holds entries of a namespace other than the given one. */
export function hasOtherNamespaces(
  sql: (text: string) => Statement,
  scope: MemoryScope,
  namespace: string,
): boolean {
  return ['ASC', 'DESC'].some((order) => {
    const row = sql(
      `SELECT namespace FROM documents WHERE scope = ? ORDER BY namespace ${order} LIMIT 1`,
    ).get(scopeNumbers[scope]) as { namespace: string } | undefined
    return row !== undefined && row.namespace !== keptNamespace(namespace)
  })
}
