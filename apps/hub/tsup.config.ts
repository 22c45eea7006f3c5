import { readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }

export default defineConfig({
  entry: { main: 'src/main.ts' },
  format: 'esm',
  target: 'node20',
  sourcemap: true,
  clean: true,
  define: { 'process.env.RECALL_VERSION': JSON.stringify(version) },
})
