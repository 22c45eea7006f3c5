import { OpenAPIHono } from '@hono/zod-openapi'
import type { HubEnv } from '../hub.ts'
import { invalidRequest } from '../problems.ts'

/** A router that validates input against the schemas that describe it. */
export const newRoutes = (): OpenAPIHono<HubEnv> =>
  new OpenAPIHono<HubEnv>({
    defaultHook: (result) => {
      if (!result.success) throw invalidRequest(result.error.issues)
    },
  })
