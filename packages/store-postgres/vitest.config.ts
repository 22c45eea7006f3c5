import { defineConfig, mergeConfig } from 'vitest/config'
import base from '../../vitest.base.ts'

export default mergeConfig(
  base,
  defineConfig({ test: { globalSetup: './test/template.ts', hookTimeout: 60_000 } }),
)
