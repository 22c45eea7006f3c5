import type { MemoryScope } from '@recall/core'
import { hookEvents } from './hosts/hook-events.ts'
import type { RootOptions } from './memory/find-root.ts'
import {
  type CommandLine,
  type CommandSpec,
  type OptionSpec,
  share,
  wholeNumber,
} from './parse-command-line.ts'
import { mostResults } from './search/most-results.ts'
import type { Io } from './terminal/io.ts'

export interface Command extends CommandSpec {
  /**
   * Loads the command's module and runs it.
   *
   * @param again runs another command line, for a command that demonstrates others
   * @returns the exit code; `undefined` means 0
   */
  run(
    io: Io,
    line: CommandLine,
    again: (argv: readonly string[], io: Io) => Promise<number>,
  ): Promise<number | undefined>
}

const common: Record<string, OptionSpec> = {
  root: {
    value: '<folder>',
    description: 'where the memory is (default: RECALL_ROOT, this folder, or ~/.recall)',
  },
  layout: { value: '<name>', description: 'how files are laid out', choices: ['entity', 'user'] },
  json: { description: 'print one JSON document instead of text' },
}

/** For commands that agents start in other people's folders. */
const ownRoot: OptionSpec = {
  value: '<folder>',
  description: 'where the memory is (default: RECALL_ROOT, or ~/.recall)',
}

const scope: OptionSpec = {
  value: '<name>',
  description: 'one scope only',
  choices: ['working', 'short-term', 'long-term', 'episodic'],
}

const layers = ['etched', 'inscribed', 'traced']

const categories = [
  'build-errors',
  'test-failures',
  'runtime-errors',
  'configuration',
  'performance',
  'security',
  'architecture',
  'tooling',
]

const targets = ['claude', 'codex', 'cursor', 'windsurf', 'aider', 'gemini', 'copilot', 'opencode', 'generic']

/** Reads the options that every command understands. */
const shared = ({ options: { root, layout, json } }: CommandLine): RootOptions & { json: boolean } => ({
  ...(typeof root === 'string' ? { root } : {}),
  ...(layout === 'entity' || layout === 'user' ? { layout } : {}),
  json: json === true,
})

/** Those of these options that were given, with their texts. */
function textsOf<Name extends string>(
  { options }: CommandLine,
  ...names: Name[]
): Partial<Record<Name, string>> {
  const texts: Partial<Record<Name, string>> = {}
  for (const name of names) {
    const value = options[name]
    if (typeof value === 'string') texts[name] = value
  }
  return texts
}

const scopeOf = ({ options }: CommandLine): { scope?: MemoryScope } =>
  options.scope === undefined ? {} : { scope: options.scope as MemoryScope }

/** All commands. Help, completion and the parser read this list. */
export const commands: readonly Command[] = [
  {
    name: 'init',
    positionals: ['[root]'],
    description: 'create a memory, and wire it into the agents on this machine',
    examples: ['recall init', 'recall init --target claude,codex', 'recall init ~/notes --layout user'],
    options: {
      target: {
        value: '<names>',
        list: true,
        description: `${targets.join(', ')}, or a module of your own`,
        words: targets,
      },
      yes: { description: 'wire it into every agent that is found, without asking' },
      'recall-prompts': { description: 'also look up each prompt in memory' },
      consume: { description: 'empty the window once a session has been given it' },
      'dry-run': { description: 'say what would change' },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/init.ts')).init(io, line.positionals[0], {
        ...shared(line),
        ...textsOf(line, 'target'),
        yes: line.options.yes === true,
        recallPrompts: line.options['recall-prompts'] === true,
        consume: line.options.consume === true,
        dryRun: line.options['dry-run'] === true,
      }),
  },
  {
    name: 'uninit',
    positionals: [],
    description: 'remove the memory from the agents again; what was remembered stays',
    examples: ['recall uninit', 'recall uninit --target cursor', 'recall uninit --purge'],
    options: {
      target: {
        value: '<names>',
        list: true,
        description: 'only these (default: all)',
        words: targets,
      },
      purge: { description: 'delete the memory that init created as well' },
      yes: { description: 'do not ask before the memory is deleted' },
      'dry-run': { description: 'say what would change' },
      json: common.json as OptionSpec,
    },
    run: async (io, line) =>
      (await import('./commands/uninit.ts')).uninit(io, {
        json: line.options.json === true,
        ...textsOf(line, 'target'),
        purge: line.options.purge === true,
        yes: line.options.yes === true,
        dryRun: line.options['dry-run'] === true,
      }),
  },
  {
    name: 'status',
    positionals: ['[root]'],
    description: 'show how the memory is doing',
    examples: ['recall status', 'recall status --json'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/status.ts')).status(io, line.positionals[0], shared(line)),
  },
  {
    name: 'archive',
    positionals: ['<transcript...>'],
    description: 'archive sessions that have ended: files, or folders of them',
    examples: ['recall archive session.jsonl', 'recall archive notes/talk.md sessions/'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/archive.ts')).archive(io, line.positionals, shared(line), 'session'),
  },
  {
    name: 'checkpoint',
    positionals: ['<transcript...>'],
    description: 'archive a session that goes on; it does not enter the window',
    examples: ['recall checkpoint session.jsonl'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/archive.ts')).archive(io, line.positionals, shared(line), 'checkpoint'),
  },
  {
    name: 'import',
    positionals: ['[source...]'],
    description: 'bring in the sessions you already had, and the memories of other tools',
    examples: [
      'recall import --dry-run',
      'recall import sessions/ --since 2026-03-01',
      'recall import ~/.claude-mem/claude-mem.db',
    ],
    options: {
      'dry-run': { description: 'say what would be read' },
      since: { value: '<date>', description: 'only what changed since this day, for example 2026-03-01' },
      project: {
        value: '<folder>',
        description: 'only sessions that worked in this folder or below, or in one of this name',
      },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/import.ts')).importAll(io, line.positionals, {
        ...shared(line),
        dryRun: line.options['dry-run'] === true,
        ...textsOf(line, 'since', 'project'),
      }),
  },
  {
    name: 'search',
    positionals: ['<query...>'],
    description: 'find what was said or learned',
    examples: [
      'recall search pool leak',
      'recall search --ranked "jwt refresh"',
      'recall search retry -C 3 --scope episodic',
    ],
    options: {
      ranked: {
        description: 'best place first, with how likely it answers, instead of in the order of the files',
      },
      context: { short: 'C', value: '<lines>', description: 'lines to show around each match' },
      scope,
      limit: { value: '<n>', description: `most results, up to ${mostResults} (default: 10)` },
      explain: { description: "show the score, and each signal's share of it" },
      lexical: { description: 'with --ranked: by words alone, without loading the model' },
      'min-confidence': {
        value: '<share>',
        description: 'with --ranked: nothing, if it is less likely than this (0 to 1) that the memory knows',
      },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/search.ts')).search(io, line.positionals.join(' '), {
        ...shared(line),
        ...scopeOf(line),
        ranked: line.options.ranked === true,
        explain: line.options.explain === true,
        lexical: line.options.lexical === true,
        minConfidence: share('min-confidence', line.options['min-confidence']),
        context: wholeNumber('context', line.options.context, 0, { least: 0, most: 1000 }),
        limit: wholeNumber('limit', line.options.limit, 10, { most: mostResults }),
      }),
  },
  {
    name: 'distill',
    alias: 'compact',
    positionals: ['[root]'],
    description: 'find what makes MEMORY.md too long, and move it to topic files',
    examples: ['recall distill', 'recall distill --apply'],
    options: { apply: { description: 'make the changes that were shown' }, ...common },
    run: async (io, line) =>
      (await import('./commands/distill.ts')).distill(io, line.positionals[0], {
        ...shared(line),
        apply: line.options.apply === true,
      }),
  },
  {
    name: 'consume',
    positionals: ['[root]'],
    description: 'print the rolling window of recent sessions',
    examples: ['recall consume', 'recall consume --clear'],
    options: { clear: { description: 'empty the window after printing it' }, ...common },
    run: async (io, line) =>
      (await import('./commands/consume.ts')).consume(io, line.positionals[0], {
        ...shared(line),
        clear: line.options.clear === true,
      }),
  },
  {
    name: 'doctor',
    positionals: [],
    description: 'examine the memory',
    examples: ['recall doctor', 'recall doctor --deep', 'recall doctor --fix'],
    options: {
      deep: { description: 'also read every file and check the index page by page' },
      fix: { description: 'mend what can be mended without losing anything' },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/doctor.ts')).doctor(io, {
        ...shared(line),
        deep: line.options.deep === true,
        fix: line.options.fix === true,
      }),
  },
  {
    name: 'reindex',
    positionals: [],
    description: 'bring the search index up to date',
    examples: ['recall reindex', 'recall reindex --full', 'recall reindex --model'],
    options: {
      full: { description: 'rebuild it from the files' },
      model: { description: 'give every passage a vector, so that ranked searches find by meaning' },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/reindex.ts')).reindex(io, {
        ...shared(line),
        full: line.options.full === true,
        model: line.options.model === true,
      }),
  },
  {
    name: 'config',
    positionals: ['[name]', '[value]'],
    actions: ['ephemeral.max_entries'],
    description: 'show or change settings',
    examples: ['recall config', 'recall config ephemeral.max_entries 8'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/config.ts')).config(
        io,
        line.positionals[0],
        line.positionals[1],
        shared(line),
      ),
  },
  {
    name: 'export',
    positionals: [],
    description: 'print every memory as JSON lines',
    examples: ['recall export > memory.jsonl', 'recall export --scope long-term'],
    options: { scope, ...common, json: { description: 'changes nothing: it prints JSON lines in any case' } },
    run: async (io, line) =>
      (await import('./commands/export.ts')).exportMemory(io, { ...shared(line), ...scopeOf(line) }),
  },
  {
    name: 'backup',
    positionals: ['<file>'],
    description: 'save the memory to one compressed file',
    examples: ['recall backup memory.tar.gz'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/backup.ts')).backup(io, line.positionals[0] as string, shared(line)),
  },
  {
    name: 'restore',
    positionals: ['<file>'],
    description: 'put a saved memory back, into a root without one',
    examples: ['recall restore memory.tar.gz --root ~/restored'],
    options: common,
    run: async (io, line) =>
      (await import('./commands/restore.ts')).restore(io, line.positionals[0] as string, shared(line)),
  },
  {
    name: 'forget',
    positionals: ['[key...]'],
    description: 'remove memories for good; shows what would go unless --yes is given',
    examples: [
      'recall forget conversation:4d56b1f8-5c1e-4e0b-9a53-0b7a2c9d1e6f',
      'recall forget --containing "old address" --yes',
    ],
    options: {
      containing: { value: '<text>', description: 'every memory that contains this text' },
      scope,
      yes: { description: 'remove them' },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/forget.ts')).forget(io, line.positionals, {
        ...shared(line),
        ...scopeOf(line),
        yes: line.options.yes === true,
        ...textsOf(line, 'containing'),
      }),
  },
  {
    name: 'scrub',
    positionals: [],
    description: 'look for secrets in what is stored; only names the files unless --yes is given',
    examples: ['recall scrub', 'recall scrub --yes'],
    options: { yes: { description: 'replace them' }, ...common },
    run: async (io, line) =>
      (await import('./commands/scrub.ts')).scrub(io, { ...shared(line), yes: line.options.yes === true }),
  },
  {
    name: 'hook',
    positionals: ['<event>'],
    actions: hookEvents,
    description: 'what agents call when something happens to a session; JSON on standard input',
    examples: ['recall hook session-start < event.json'],
    // Hosts treat other exit codes as an order: to erase the prompt, or not to compact.
    failsOpen: true,
    options: {
      clear: { description: 'at session-start and turn-start: empty the window after it was given' },
      starting: {
        value: '<id>',
        description: 'at drain: archive open sessions as well, except this one, which has just started',
      },
      root: ownRoot,
      layout: common.layout as OptionSpec,
    },
    run: async (io, line) =>
      (await import('./commands/hook.ts')).hook(io, line.positionals[0] as string, {
        ...shared(line),
        clear: line.options.clear === true,
        ...textsOf(line, 'starting'),
      }),
  },
  {
    name: 'echoes',
    positionals: ['<action>', '[argument...]'],
    actions: [
      'show',
      'add',
      'move',
      'remove',
      'restore',
      'reset',
      'prune',
      'consolidate',
      'remembrance',
      'promote',
      'publish',
      'migrate',
      'surface',
      'begin',
      'end',
      'doctor',
    ],
    description: 'what a team of agents learned, by role and in three layers',
    examples: [
      'recall echoes show',
      'recall echoes surface --for "add a list of users"',
      'recall echoes prune --yes',
      'recall echoes restore reviewer/traced-003',
      'recall echoes migrate elder=lead',
    ],
    options: {
      folder: {
        value: '<folder>',
        description: 'of the echoes (default: the one that the project has, otherwise .recall/echoes)',
      },
      yes: { description: 'do what was shown' },
      'dry-run': { description: 'only show what would be done (the default where something is removed)' },
      lead: { description: 'the caller leads the team, and may write to its memory' },
      for: { value: '<task>', of: ['surface'], description: 'what is about to be done' },
      workflow: {
        value: '<name>',
        of: ['surface'],
        description: 'count what is found as used by this workflow',
      },
      limit: { value: '<n>', of: ['surface'], description: 'most entries, up to 100 (default: 8)' },
      layer: {
        value: '<name>',
        of: ['add'],
        description: 'etched asks a person (default: traced)',
        choices: layers,
      },
      kind: {
        value: '<word>',
        of: ['add'],
        description: 'Pattern, Observation, Architecture … (default: Pattern)',
      },
      learning: { value: '<text>', of: ['add'], description: 'what was learned, in 1 to 3 sentences' },
      evidence: { value: '<text>', of: ['add'], description: 'where it was seen' },
      source: { value: '<text>', of: ['add'], description: 'where it comes from (default: manual)' },
      confidence: { value: '<number>', of: ['add'], description: 'from 0.0 to 1.0 (default: 0.8)' },
      supersedes: {
        value: '<title>',
        of: ['add'],
        description: 'the title of the entry that it replaces',
      },
      agent: { value: '<name>', of: ['add'], description: 'as a finding of this agent, to be consolidated' },
      to: { value: '<layer>', of: ['move'], description: 'the new layer', choices: layers },
      etched: { of: ['reset'], description: 'the etched entries as well, when a person agrees' },
      category: {
        value: '<name>',
        of: ['promote'],
        description: 'the kind of document',
        choices: categories,
      },
      symptom: { value: '<text>', of: ['promote'], description: 'what you see' },
      'root-cause': { value: '<text>', of: ['promote'], description: 'why it happens' },
      solution: { value: '<text>', of: ['promote'], description: 'what helps' },
      actionable: { of: ['promote'], description: 'people can act on it' },
      tags: { value: '<a,b>', list: true, of: ['promote', 'publish'], description: 'what it is about' },
      docs: { value: '<folder>', description: 'of the documents (default: docs/solutions of the project)' },
      url: { value: '<address>', of: ['publish'], description: 'of the hub' },
      'key-file': {
        value: '<path>',
        of: ['publish'],
        description: 'holds {"url", "api_key"} (default: ~/.config/recall/hub.json)',
      },
      ...common,
    },
    run: async (io, line) =>
      (await import('./commands/echoes.ts')).echoes(io, line.positionals, {
        ...shared(line),
        yes: line.options.yes === true,
        dryRun: line.options['dry-run'] === true,
        lead: line.options.lead === true,
        etched: line.options.etched === true,
        actionable: line.options.actionable === true,
        texts: textsOf(line, ...Object.keys(line.options)),
        limit: wholeNumber('limit', line.options.limit, 8, { most: 100 }),
      }),
  },
  {
    name: 'hub',
    positionals: ['<action>', '[argument]'],
    actions: ['register', 'save', 'search', 'get', 'cite', 'whoami', 'rotate-key', 'delete'],
    description: 'share what you learned with other agents, and find what they learned',
    examples: [
      'recall hub register deploy-bot --url https://recall.example.org',
      'recall hub search "connection pool exhausted under load" --limit 3',
      'recall hub save "The pool leaked: the retry path …" --tags postgres,leak --source https://…',
      'recall hub save --tags postgres,leak < notes.md',
      'recall hub cite RCL-8F3K2A9Q',
    ],
    options: {
      url: { value: '<address>', description: 'of the hub (default: RECALL_API_URL, or as in the key file)' },
      'key-file': {
        value: '<path>',
        description: 'holds {"url", "api_key"} (default: ~/.config/recall/hub.json)',
      },
      tags: {
        value: '<a,b>',
        list: true,
        of: ['save'],
        description: 'what it is about, 2 to 6 concrete nouns',
      },
      source: { value: '<address>', of: ['save'], description: 'where others can check it' },
      limit: { value: '<n>', of: ['search'], description: 'most memories, up to 50 (default: 10)' },
      explain: { of: ['search'], description: 'what each signal adds to the rank' },
      json: common.json as OptionSpec,
    },
    run: async (io, line) => {
      const { 'key-file': keyFile, limit, explain, json } = line.options
      return (await import('./commands/hub.ts')).hub(io, line.positionals, {
        json: json === true,
        ...textsOf(line, 'url', 'tags', 'source'),
        ...(typeof keyFile === 'string' ? { keyFile } : {}),
        limit: wholeNumber('limit', limit, 10, { most: 50 }),
        explain: explain === true,
      })
    },
  },
  {
    name: 'mcp',
    positionals: [],
    description: 'serve the memory to an agent as MCP tools, on standard input and output',
    examples: ['recall mcp', 'claude mcp add recall -- recall mcp'],
    options: { root: ownRoot, layout: common.layout as OptionSpec },
    run: async (io, line) => (await import('./commands/mcp.ts')).mcp(io, shared(line)),
  },
  {
    name: 'completion',
    positionals: ['<shell>'],
    actions: ['bash', 'zsh', 'fish'],
    description: 'print a completion script for bash, zsh or fish',
    examples: [
      'recall completion bash >> ~/.bashrc',
      'recall completion zsh > "$fpath[1]/_recall"',
      'recall completion fish > ~/.config/fish/completions/recall.fish',
    ],
    options: {},
    run: async (io, line) =>
      (await import('./commands/completion.ts')).completion(io, line.positionals[0] as string, commands),
  },
  {
    name: 'demo',
    positionals: [],
    description: 'watch the main job on a sample session, in a temporary folder',
    examples: ['recall demo', 'recall demo --hub'],
    options: { hub: { description: 'and then two agents that share what one of them learned' } },
    run: async (io, { options }, again) =>
      (await import('./commands/demo.ts')).demo(io, again, options.hub === true),
  },
]
