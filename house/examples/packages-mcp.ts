import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createMcpFetch } from '@recall/mcp'

const memory = createMemoryManager({ stores: createInMemoryStore() })
const mcp = createMcpFetch({ optionsFor: () => ({ memory }) })

const answer = await mcp.fetch(new Request('http://localhost/mcp', { headers: { host: 'localhost' } }))
console.log(answer.status) // 405: only POST
