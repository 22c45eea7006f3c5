import { mkdirSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeDurably } from '../durable-file.ts'
import { type Ran, run } from '../processes.ts'
import { pathInPeer, versions } from './outside.ts'
import { type Peer, textOf } from './peer.ts'

const keyOf = (path: string): string => basename(path.trim(), '.md')

export const ripgrep: Peer = {
  name: 'ripgrep',
  version: /ripgrep (\S+)/.exec(run('rg', ['--version']).out)?.[1] ?? 'not installed',
  settings:
    'one file for each memory, a process for each search, `-l -i -F -e word …`: any of the words, unranked, so that the first ten are any ten; one put is synced, many are not',
  async open(folder) {
    const put = (path: string, text: string): void => writeDurably(join(folder, `${path}.md`), text)
    return {
      async putAll(documents) {
        mkdirSync(folder, { recursive: true })
        for (const each of documents) writeFileSync(join(folder, `${each.key}.md`), textOf(each))
      },
      put: async (document) => put(document.key, textOf(document)),
      async search(text) {
        const words = text.split(' ').flatMap((word) => ['-e', word])
        const { out } = run('rg', ['-l', '-i', '-F', ...words, folder])
        return out.trim().split('\n').slice(0, 10).map(keyOf)
      },
      pid: 0,
      async close() {},
    }
  },
}

/** Runs qmd on Node 22, with its index and settings in a separate folder instead of the user's. */
export function callQmd(folder: string, ...args: string[]): Ran {
  const node = pathInPeer('@tobilu/qmd', `node-${process.platform}-${process.arch}/bin/node`)
  const main = pathInPeer('@tobilu/qmd', '@tobilu/qmd/dist/cli/qmd.js')
  mkdirSync(folder, { recursive: true })
  const own = { XDG_CACHE_HOME: join(folder, 'cache'), XDG_CONFIG_HOME: join(folder, 'config') }
  return run(node, [main, ...args], folder, own)
}

export const qmd: Peer = {
  name: 'qmd',
  version: versions['@tobilu/qmd'],
  settings:
    'its search by words (`qmd search`, BM25), a process of Node 22 for each search; one file for each memory, then `qmd update`',
  most: 10_000,
  limit: 'it indexes about 500 memories a second',
  async open(folder) {
    const notes = join(folder, 'notes')
    mkdirSync(notes, { recursive: true })
    const call = (...args: string[]): string => {
      const { out, err, code } = callQmd(folder, ...args)
      if (code !== 0) throw new Error(`qmd ${args[0]} ended with ${code}: ${err.slice(-300)}`)
      return out
    }
    return {
      async putAll(documents) {
        for (const each of documents) writeFileSync(join(notes, `${each.key}.md`), textOf(each))
        call('collection', 'add', notes, '--name', 'bench')
      },
      async put(document) {
        writeDurably(join(notes, `${document.key}.md`), textOf(document))
        call('update')
      },
      async search(text) {
        const found = JSON.parse(call('search', text, '--json', '-n', '10')) as { file: string }[]
        // qmd://bench/note-000001.md?index=…
        return found.map(({ file }) => keyOf(file.replace(/\?.*$/, '')))
      },
      pid: 0,
      async close() {},
    }
  },
}
