import type { JsonValue } from '@recall/core'
import * as z from 'zod/mini'

/** What `JSON.parse` returned for a member that is there. `z.json` would leave out members named `__proto__`. */
export const anyJson = z.custom<JsonValue>((value) => value !== undefined)
