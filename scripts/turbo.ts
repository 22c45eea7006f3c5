import { createRequire } from 'node:module'

/** Runs turbo with the arguments given here, and without its reports to its maker. */
process.env.TURBO_TELEMETRY_DISABLED = '1'
createRequire(import.meta.url)('turbo')
