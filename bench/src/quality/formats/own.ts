import { z } from 'zod'
import type { DataSet } from '../data-set.ts'
import { parseTime } from './parse-time.ts'

/** The form allows any way of writing a time, and missing members may be left out. */
export const own = z.object({
  name: z.string().optional(),
  collections: z.array(
    z.object({
      id: z.string(),
      docs: z.array(
        z.object({
          id: z.string(),
          session: z.string().nullish(),
          time: z.string().nullish(),
          text: z.string(),
        }),
      ),
      queries: z.array(
        z.object({
          id: z.string(),
          text: z.string(),
          gold: z.array(z.string()).nullish(),
          category: z.string().nullish(),
        }),
      ),
    }),
  ),
})

export const fromOwn = (collections: z.output<typeof own>['collections']): DataSet['collections'] =>
  collections.map(({ id, docs, queries }) => ({
    id,
    docs: docs.map(({ session, time, ...doc }) => ({
      ...doc,
      session: session ?? null,
      time: parseTime(time),
    })),
    queries: queries
      .map(({ gold, category, ...query }) => ({ ...query, gold: gold ?? [], category: category ?? 'all' }))
      .filter(({ gold }) => gold.length > 0),
  }))
