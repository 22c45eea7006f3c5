import { customType } from 'drizzle-orm/pg-core'

/** A vector of any length: models and lengths may change while the table stays. */
export const vectorColumn = customType<{ data: number[]; driverData: string }>({
  dataType: () => 'vector',
  toDriver: (vector) => JSON.stringify(vector),
  fromDriver: (text) => JSON.parse(text) as number[],
})

/** Terms with their counts, which are encoded where a tsvector has positions and weights. */
export const wordsColumn = customType<{ data: string; driverData: string }>({
  dataType: () => 'tsvector',
})
