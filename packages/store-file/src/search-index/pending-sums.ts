import { stampModulus } from '../files/file-stamp.ts'
import type { Statement } from '../sqlite/driver.ts'

/**
 * How a transaction changes the sums over many files, written once at its end: for each folder the number of files and
 * the sum of their stamps, for each scope and namespace the number of entries and bytes.
 */
export function createPendingSums(sql: (text: string) => Statement) {
  const folders = new Map<number, { count: number; sum: number }>()
  const totals = new Map<string, { scope: number; namespace: string; entries: number; bytes: number }>()

  const forget = (): void => {
    folders.clear()
    totals.clear()
  }

  return {
    addToFolder(folder: number, count: number, sum: number): void {
      const known = folders.get(folder) ?? { count: 0, sum: 0 }
      const total = (known.sum + sum + stampModulus) % stampModulus
      folders.set(folder, { count: known.count + count, sum: total })
    },

    addToTotal(scope: number, namespace: string, entries: number, bytes: number): void {
      const known = totals.get(`${scope} ${namespace}`) ?? { scope, namespace, entries: 0, bytes: 0 }
      known.entries += entries
      known.bytes += bytes
      totals.set(`${scope} ${namespace}`, known)
    },

    /** Not by triggers: FTS5 flushes its pending words before every statement that fires one. */
    write(): void {
      for (const [folder, { count, sum }] of folders) {
        sql('UPDATE folders SET count = count + ?, sum = (sum + ?) % ? WHERE id = ?').run(
          count,
          sum,
          stampModulus,
          folder,
        )
      }
      for (const { scope, namespace, entries, bytes } of totals.values()) {
        sql(
          `INSERT INTO totals (scope, namespace, entries, bytes) VALUES (?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET entries = entries + excluded.entries, bytes = bytes + excluded.bytes`,
        ).run(scope, namespace, entries, bytes)
      }
      forget()
    },

    forget,
  }
}

export type PendingSums = ReturnType<typeof createPendingSums>
