import { stampModulus } from '../files/file-stamp.ts'
import type { Statement } from '../sqlite/driver.ts'

interface Counts {
  entries: number
  bytes: number
  units: number
}

/**
 * How a transaction changes the sums over many files, written once at its end: for each folder the number of files and
 * the sum of their stamps, for each scope and namespace the number of entries, bytes and units.
 */
export function createPendingSums(sql: (text: string) => Statement) {
  const folders = new Map<number, { count: number; sum: number }>()
  const totals = new Map<string, Counts & { scope: number; namespace: string }>()

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

    addToTotal(scope: number, namespace: string, { entries, bytes, units }: Counts): void {
      const known = totals.get(`${scope} ${namespace}`) ?? {
        scope,
        namespace,
        entries: 0,
        bytes: 0,
        units: 0,
      }
      known.entries += entries
      known.bytes += bytes
      known.units += units
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
      for (const { scope, namespace, entries, bytes, units } of totals.values()) {
        sql(
          `INSERT INTO totals (scope, namespace, entries, bytes, units) VALUES (?, ?, ?, ?, ?)
           ON CONFLICT DO UPDATE SET entries = entries + excluded.entries, bytes = bytes + excluded.bytes,
             units = units + excluded.units`,
        ).run(scope, namespace, entries, bytes, units)
      }
      forget()
    },

    forget,
  }
}

export type PendingSums = ReturnType<typeof createPendingSums>
