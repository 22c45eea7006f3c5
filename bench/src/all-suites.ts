import type { Options } from './options.ts'

/** A measurement that publishes a page of its own in `bench/results/`. */
export interface Suite {
  summary: string
  /** Its own arguments, as the usage shows them. */
  usage: string
  /** Part of `pnpm bench all`, with these arguments. */
  all?: readonly string[]
  /** An option that names something the suite cannot run without. */
  needs?: 'postgres' | 'data'
  /** Measures and publishes; false when something happened that must never happen. */
  run(options: Options): Promise<boolean>
}

/** In the order in which `all` runs them: short ones first. */
export const suites: Readonly<Record<string, Suite>> = {
  echoes: {
    summary: 'a year of what five roles find: limits, what survives, and a plot of the layers',
    usage: '[--findings 2000] [--seed 1]',
    all: [],
    run: async (options) => (await import('./publish/echoes.ts')).publishEchoes(options),
  },
  protocol: {
    summary: 'reads, writes, searches and batches of each store against a Map, lru-cache and raw SQLite',
    usage: '[--rounds 25] [--postgres url]',
    all: ['--rounds', '9'],
    run: async (options) => (await import('./publish/stores.ts')).publishProtocol(options),
  },
  hooks: {
    summary: 'what each event of a host waits for its hook, against an empty Node process',
    usage: '[--rounds 40]',
    all: [],
    run: async (options) => (await import('./publish/files.ts')).publishHooks(options),
  },
  embedded: {
    summary: 'the same store on PGlite and on a Postgres server',
    usage: '--postgres url [--sizes 1000] [--rounds 40]',
    all: [],
    needs: 'postgres',
    run: async (options) => (await import('./publish/stores.ts')).publishEmbedded(options),
  },
  meaning: {
    summary: 'what finding by meaning costs: comparing vectors, searching, embedding, starting cold',
    usage: '[--sizes 100000] [--rounds 25]',
    all: ['--rounds', '15'],
    run: async (options) => (await import('./publish/files.ts')).publishMeaning(options),
  },
  peers: {
    summary: 'the same memories in Recall, ripgrep, minisearch, Orama, vectra, server-memory, qmd and mem0',
    usage: '[--sizes 1000,10000] [--rounds 9] [--seed 1] [--qmd] [--mem0]',
    all: [],
    run: async (options) => (await import('./publish/peers.ts')).publishPeers(options),
  },
  files: {
    summary: 'the file store and the command line: rebuild, cold and warm queries, freshness, durable writes',
    usage: '[--sizes 1000,10000,100000] [--rounds 25] [--seed 1] [--qmd]',
    all: ['--rounds', '20'],
    run: async (options) => (await import('./publish/files.ts')).publishFiles(options),
  },
  growth: {
    summary: 'what the file store costs from 1,000 to 1,000,000 memories, with the exponent of each curve',
    usage: '[--sizes 1000,10000,100000,1000000] [--minutes 15] [--seed 1]',
    all: [],
    run: async (options) => (await import('./publish/files.ts')).publishGrowth(options),
  },
  crash: {
    summary: 'writers killed at random moments: every acknowledged write must be there',
    usage: '[--kills 1000] [--seed 1]',
    all: ['--kills', '200'],
    run: async (options) => (await import('./publish/crash.ts')).publishCrash('crash', 1000, options),
  },
  'crash-protocol': {
    summary: 'the same while they archive, evict, drain a queue and rotate keys',
    usage: '[--kills 500] [--seed 1]',
    all: ['--kills', '100'],
    run: async (options) => (await import('./publish/crash.ts')).publishCrash('crash-protocol', 500, options),
  },
  http: {
    summary: 'a GET through everything the hub does with a request, against raw node:http and an empty Hono',
    usage: '--postgres url [--rounds 9]',
    all: [],
    needs: 'postgres',
    run: async (options) => (await import('./publish/hub.ts')).publishHttp(options),
  },
  hub: {
    summary: 'a hub under load on a real server, against a bare pool of postgres.js: searches and writes',
    usage: '--postgres url [--sizes 100000] [--rounds 5]',
    all: ['--sizes', '1000000,100000', '--rounds', '3'],
    needs: 'postgres',
    run: async (options) => (await import('./publish/hub.ts')).publishHub(options),
  },
  spam: {
    summary: 'a thousand sybils against a hub: what of theirs a trusted agent finds',
    usage: '--postgres url [--fake] [--seed 1]',
    all: ['--fake'],
    needs: 'postgres',
    run: async (options) => (await import('./publish/hub.ts')).publishSpam(options),
  },
  quality: {
    summary:
      'what is found, on data sets that you bring: our own form, LoCoMo, LongMemEval, folders of BEAM and BEIR',
    usage:
      '--data <path>[,<path>] [--runtime native|wasm] [--ablation] [--leave-one-out] [--together] [--facts] [--stores] [--postgres url]',
    all: ['--ablation', '--leave-one-out'],
    needs: 'data',
    run: async (options) => (await import('./publish/quality.ts')).publishQuality(options),
  },
}
