import { defineConfig } from 'vitest/config'

/** Tests run on the sources: the custom export condition points at `src`, so nothing has to be built first. */
export default defineConfig({
  resolve: { conditions: ['@recall/source'] },
  ssr: { resolve: { conditions: ['@recall/source'] } },
  // A machine that is shared can be slow for seconds; a test that hangs still ends.
  test: {
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Many tests wait for disks, servers and other processes: with one worker less, a core would idle.
    maxWorkers: '100%',
    include: ['src/**/*.test.ts', 'test/**/*.test.ts'],
    reporters: ['default'],
  },
})
