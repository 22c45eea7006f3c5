import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

/** Runs turbo with the arguments given here, and without its reports to its maker. */
process.env.TURBO_TELEMETRY_DISABLED = '1'
require('turbo')
