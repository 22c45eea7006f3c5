import type { z } from '@hono/zod-openapi'
import { problemSchema } from './schemas.ts'

export const jsonBody = <Schema extends z.ZodType>(schema: Schema) => ({
  required: true as const,
  content: { 'application/json': { schema } },
})

/** The responses of a route: its answer, and the problem that any route can return. */
export const answers = <Status extends 200 | 201, Schema extends z.ZodType>(
  status: Status,
  schema: Schema,
  description: string,
) =>
  ({
    [status]: { description, content: { 'application/json': { schema } } },
    default: {
      description: 'What went wrong, and what to do (RFC 9457)',
      content: { 'application/problem+json': { schema: problemSchema } },
    },
  }) as Record<Status, { description: string; content: { 'application/json': { schema: Schema } } }>

export const keyed = [{ key: [] }]
