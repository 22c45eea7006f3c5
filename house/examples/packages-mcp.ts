import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createMcpFetch } from '@recall/mcp'

const memory = createMemoryManager({ stores: createInMemoryStore() })
const fence = (text: string, source: string) =>
  `<recalled-memory source="${source}">\n${text}\n</recalled-memory>`
const mcp = createMcpFetch({ optionsFor: () => ({ memory, fence }) })

const answer = await mcp.fetch(new Request('http://localhost/mcp', { headers: { host: 'localhost' } }))
console.log(answer.status) // 405: only POST
