import { OpenAPIHono } from '@hono/zod-openapi'
import type { HubEnv } from '../hub.ts'
import { invalidRequest } from '../problems.ts'

/** A set of routes whose input is checked by the schemas that describe it. */
export const newRoutes = (): OpenAPIHono<HubEnv> =>
  new OpenAPIHono<HubEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.error.issues)
    },
  })
