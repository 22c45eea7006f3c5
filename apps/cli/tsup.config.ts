import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig } from 'tsup'
import { thirdPartyNotices } from './third-party-notices.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
const commands = readdirSync('src/commands').filter(
  (name) => name.endsWith('.ts') && !name.endsWith('.test.ts'),
)

/**
 * One file for the command line and one for each command, with everything they need inside: resolving modules
 * is most of a short command's time. CommonJS starts several milliseconds faster than ESM.
 */
export default defineConfig({
  entry: {
    recall: 'src/main.ts',
    // Only who asks for the archive needs it; every search would have to read past it.
    'cold-files': '../../packages/store-file/src/cold/cold-files.ts',
    ...Object.fromEntries(commands.map((name) => [`commands/${name.slice(0, -3)}`, `src/commands/${name}`])),
  },
  format: 'cjs',
  target: 'node20',
  splitting: false,
  shims: true,
  // The embedder and its model stay packages of their own: most commands never load them.
  noExternal: [/^(?!@photostructure\/|yaml$|@recall\/embeddings)/],
  define: { 'process.env.RECALL_VERSION': JSON.stringify(version) },
  esbuildOptions(options) {
    options.conditions = ['@recall/source']
    // `import()` would start the ESM loader for a CommonJS file: 20 ms for nothing.
    options.supported = { 'dynamic-import': false }
  },
  esbuildPlugins: [
    thirdPartyNotices('third-party-notices.txt'),
    {
      name: 'a file for each command',
      setup(build) {
        // A command that names another one as `../commands/…` loads that file instead of holding a copy.
        build.onResolve({ filter: /^\.\.?\/commands\/.*\.ts$/ }, ({ path }) => ({
          path: path.replace(/\.ts$/, '.cjs'),
          external: true,
        }))
        build.onResolve({ filter: /^\.\/cold-files\.ts$/ }, () => ({
          path: '../cold-files.cjs',
          external: true,
        }))
      },
    },
  ],
  minify: true,
  clean: true,
})
