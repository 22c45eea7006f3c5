import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.base.ts'

/** Most of these tests wait for disks and other processes: one core alone would idle. */
export default mergeConfig(base, defineConfig({ test: { maxWorkers: 2 } }))
