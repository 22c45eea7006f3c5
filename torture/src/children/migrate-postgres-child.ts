import { openPostgres } from '@recall/store-postgres/postgres'

/** Opens a database that lacks steps, which makes them, and waits to be killed. */
const [url = ''] = process.argv.slice(2)
process.send?.('ready')
await openPostgres({ url })
setInterval(() => {}, 1000)
