import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

/** One file, because resolving modules is most of a short command's time; only the native driver stays outside. */
export default defineConfig({
  entry: { recall: 'src/main.ts' },
  format: 'cjs',
  target: 'node20',
  noExternal: [/.*/],
  external: ['@photostructure/sqlite'],
  define: { 'process.env.RECALL_VERSION': JSON.stringify(version) },
  esbuildOptions(options) {
    options.conditions = ['@recall/source']
  },
  minify: true,
  clean: true,
  banner: { js: '#!/usr/bin/env node' },
})
