import type { JsonValue } from '@recall/core'
import * as z from 'zod/mini'
import { isTooDeep } from './json-depth.ts'

/** What `JSON.parse` returned for a member that exists. `z.json` would leave out members named `__proto__`. */
export const anyJson = z.custom<JsonValue>((value) => value !== undefined && !isTooDeep(value as JsonValue))
