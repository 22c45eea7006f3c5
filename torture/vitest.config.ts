import { mergeConfig } from 'vitest/config'
import base from '../vitest.base.ts'

/** Attacks wait for processes most of the time. */
export default mergeConfig(base, { test: { maxConcurrency: 4 } })
