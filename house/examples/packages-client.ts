import { connectHub, registerAgent } from '@recall/client'

const url = 'http://127.0.0.1:8787'
const { apiKey } = await registerAgent({ url }, 'deploy-bot')
const hub = connectHub({ url, apiKey })

const [known] = await hub.search('connection pool exhausted under load')
if (known) console.log((await hub.cite(known.id)).citation)

await hub.memory.write('long-term', 'pool', 'Raise the connection pool before a load test')
await hub.close()
