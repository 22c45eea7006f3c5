import { defineConfig } from 'vitest/config'

/** Tests run on the sources: the custom export condition points at `src`, so nothing has to be built first. */
export default defineConfig({
  resolve: { conditions: ['@recall/source'] },
  ssr: { resolve: { conditions: ['@recall/source'] } },
  test: { include: ['src/**/*.test.ts', 'test/**/*.test.ts'], reporters: ['default'] },
})
