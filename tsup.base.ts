import { defineConfig, type Options } from 'tsup'

/**
 * One build for every package: ESM for Node 20, declarations beside it, readable output.
 *
 * @param more what one package needs beyond the others
 */
export const library = (entry: Record<string, string>, more: Options = {}): ReturnType<typeof defineConfig> =>
  defineConfig({
    entry,
    format: 'esm',
    target: 'node20',
    dts: {
      compilerOptions: { customConditions: [] },
      // What can be disposed of says so with a type that programs without Node's types do not know by themselves.
      banner: '/// <reference lib="esnext.disposable" />',
    },
    sourcemap: true,
    clean: true,
    ...more,
  } satisfies Options)
