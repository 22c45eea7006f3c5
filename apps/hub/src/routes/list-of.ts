import { z } from '@hono/zod-openapi'

interface ListDefinition extends z.core.$ZodArrayDef {
  /** Items that the list may have. */
  most: number
}

const List: { new (definition: ListDefinition): z.ZodArray } = z.core.$constructor(
  'List',
  (list: z.ZodArray, definition: ListDefinition) => {
    z.ZodArray.init(list, definition)
    const parse = list._zod.parse
    list._zod.parse = (payload, context) => {
      const items = payload.value
      // Zod refuses a value that is not a list, or is too long, without looking at its items.
      if (!Array.isArray(items) || items.length > definition.most) return parse(payload, context)
      const read: unknown[] = []
      for (const [i, value] of items.entries()) {
        const result = definition.element._zod.run({ value, issues: [] }, context)
        if (result instanceof Promise) throw new z.core.$ZodAsyncError()
        if (result.issues.length > 0) {
          // Nothing else is checked of a value whose items were not all read.
          const issues = result.issues.map((issue) => ({ ...issue, continue: false }))
          payload.issues.push(...z.core.util.prefixIssues(i, issues))
          return payload
        }
        read.push(result.value)
      }
      payload.value = read
      return payload
    }
  },
)

/**
 * A list in a request. It is read only to its first wrong item: a body of megabytes could otherwise produce millions of
 * problems.
 *
 * @param most items that it may have
 * @param told the messages for a value that is not a list, and for a list with too many items. Default: those of zod
 */
export function listOf<Item extends z.ZodType>(
  item: Item,
  most: number,
  told: { notOne?: string; tooMany?: string } = {},
): z.ZodArray<Item> {
  const { notOne, tooMany } = told
  const list = new List({ type: 'array', element: item, most, ...(notOne ? { error: () => notOne } : {}) })
  return (list as z.ZodArray<Item>).max(most, tooMany)
}
