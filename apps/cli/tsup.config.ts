import { readdirSync, readFileSync } from 'node:fs'
import { defineConfig, type Options } from 'tsup'
import { placeWasmFiles } from '../../packages/embeddings/place-wasm-files.ts'
import { asciiOutput } from './ascii-output.ts'
import { thirdPartyNotices } from './third-party-notices.ts'

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string }
/** Files of their own: one for each command, and one for each part of a command that few calls need. */
const loadedLater = ['commands', 'deferred'].flatMap((folder) =>
  readdirSync(`src/${folder}`)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `${folder}/${name.slice(0, -3)}`),
)

/** All packages but those that are installed beside the command: native code, data, and what few calls load. */
const inside = /^(?!@photostructure\/|yaml$|@recall\/model-|onnxruntime-node$)/

/**
 * One file for the command line and one for each command, with everything they need inside: resolving modules is most
 * of a short command's time. What runs before compiled code is kept is a small file of its own. CommonJS starts several
 * milliseconds faster than ESM.
 */
const commandLine: Options = {
  entry: {
    recall: 'src/main.ts',
    run: 'src/run.ts',
    // Only who asks for the archive needs it; every search would have to read past it.
    'cold-files': '../../packages/store-file/src/cold/cold-files.ts',
    ...Object.fromEntries(loadedLater.map((name) => [name, `src/${name}.ts`])),
  },
  format: 'cjs',
  target: 'node20',
  splitting: false,
  shims: true,
  noExternal: [inside],
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
        // Who imports one of them loads that file instead of holding a copy.
        build.onResolve({ filter: /^\.\.?\/(commands|deferred)\/.*\.ts$/ }, ({ path }) => ({
          path: path.replace(/\.ts$/, '.cjs'),
          external: true,
        }))
        build.onResolve({ filter: /^\.\/run\.ts$/ }, () => ({ path: './run.cjs', external: true }))
        build.onResolve({ filter: /^\.\/cold-files\.ts$/ }, () => ({
          path: '../cold-files.cjs',
          external: true,
        }))
        build.onResolve({ filter: /^@recall\/embeddings/ }, ({ path }) => ({
          path: `..${path.slice('@recall'.length)}${path.endsWith('/local') ? '' : '/index'}.js`,
          external: true,
        }))
      },
    },
  ],
  minify: true,
  plugins: [asciiOutput],
  clean: ['!embeddings/**'],
}

/** The embedders, which few calls load. They are ES modules as the runtime is, which lies beside the local one. */
const embedders: Options = {
  entry: {
    index: '../../packages/embeddings/src/index.ts',
    local: '../../packages/embeddings/src/local/local-embedder.ts',
  },
  outDir: 'dist/embeddings',
  format: 'esm',
  target: 'node20',
  splitting: false,
  noExternal: [inside],
  // Whoever has it gets it.
  external: ['onnxruntime-node'],
  esbuildOptions(options) {
    options.conditions = ['@recall/source']
  },
  esbuildPlugins: [thirdPartyNotices('third-party-notices.txt')],
  minify: true,
  clean: true,
  onSuccess: async () => placeWasmFiles(new URL('./dist/embeddings/', import.meta.url)),
}

export default defineConfig([commandLine, embedders])
