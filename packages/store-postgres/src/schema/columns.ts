import { customType } from 'drizzle-orm/pg-core'

/** A vector of any length: lengths and models may change while the table stays. */
export const vectorColumn = customType<{ data: number[]; driverData: string }>({
  dataType: () => 'vector',
  toDriver: (vector) => JSON.stringify(vector),
  fromDriver: (text) => JSON.parse(text) as number[],
})

/** Terms with how often each occurs, in the place where Postgres keeps positions. */
export const wordsColumn = customType<{ data: string; driverData: string }>({
  dataType: () => 'tsvector',
})
