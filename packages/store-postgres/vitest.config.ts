import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.base.ts'

/** These tests wait for a server as often as it waits for them: with one worker, a core would idle. */
export default mergeConfig(base, defineConfig({ test: { hookTimeout: 60_000, maxWorkers: 2 } }))
