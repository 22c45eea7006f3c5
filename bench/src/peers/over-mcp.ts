import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { bench, pathInPeer, versions } from './outside.ts'
import { type OpenedPeer, type Peer, textOf } from './peer.ts'

/** Starts a server over stdio, with the official client. */
async function connect(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ call: (name: string, input: object) => Promise<unknown>; pid: number; close(): Promise<void> }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [...args],
    env,
    stderr: 'ignore',
    // The reference server answers a common word with everything that holds it: more than the usual 10 MB.
    maxBufferSize: 1 << 28,
  })
  const client = new Client({ name: 'bench', version: '1' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(transport)
  return {
    async call(name, input) {
      const answer = await client.callTool({ name, arguments: { ...input } })
      if (answer.isError) throw new Error(`${name} was refused: ${JSON.stringify(answer.content)}`)
      return answer.structuredContent
    },
    pid: transport.pid ?? 0,
    close: () => client.close(),
  }
}

const cli = join(bench, '../apps/cli/dist/recall.cjs')

export const recallOverMcp: Peer = {
  name: 'Recall over MCP',
  version: 'this commit',
  settings: 'the built `recall mcp` over stdio, official client 2.4; one `memory_remember` for each memory',
  async open(folder): Promise<OpenedPeer> {
    const server = await connect([cli, 'mcp'], { RECALL_ROOT: folder })
    const put: OpenedPeer['put'] = async (document) => {
      await server.call('memory_remember', { key: document.key, text: textOf(document) })
    }
    return {
      ...server,
      put,
      async putAll(documents) {
        for (const document of documents) await put(document)
      },
      async search(query) {
        const { results } = (await server.call('memory_search', { query, limit: 10 })) as {
          results: { key: string }[]
        }
        return results.map(({ key }) => key)
      },
    }
  },
}

export const serverMemory: Peer = {
  name: 'server-memory over MCP',
  version: versions['@modelcontextprotocol/server-memory'],
  settings:
    'the MCP reference memory server over stdio, official client 2.4; a memory is an entity with one observation, 500 a call; it looks for the query as one substring, so it is asked for the longest word of the query; it writes its whole file anew at every put, without syncing it',
  most: 10_000,
  limit: 'every put writes everything anew: at 100,000 one takes seconds',
  async open(folder) {
    const main = pathInPeer(
      '@modelcontextprotocol/server-memory',
      '@modelcontextprotocol/server-memory/dist/index.js',
    )
    const server = await connect([main], { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') })
    const putAll: OpenedPeer['putAll'] = async (documents) => {
      for (let i = 0; i < documents.length; i += 500) {
        const entities = documents
          .slice(i, i + 500)
          .map((each) => ({ name: each.key, entityType: 'note', observations: [textOf(each)] }))
        await server.call('create_entities', { entities })
      }
    }
    return {
      ...server,
      putAll,
      put: (document) => putAll([document]),
      async search(text) {
        const query = text.split(' ').reduce((a, b) => (b.length > a.length ? b : a))
        const { entities } = (await server.call('search_nodes', { query })) as {
          entities: { name: string }[]
        }
        return entities.slice(0, 10).map(({ name }) => name)
      },
    }
  },
}
