import type { Principal } from './auth/principal.ts'
import type { HubParts } from './hub-parts.ts'
import type { RetrievalLog } from './pipelines/note-retrievals.ts'

/** The context that every part of the hub works with. */
export interface Hub extends HubParts {
  retrievals: RetrievalLog
}

/** What the middleware sets for the handlers. */
export interface HubEnv {
  Variables: { principal: Principal }
}
