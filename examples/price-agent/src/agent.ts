import type { MemoryManager } from '@recall/core'
import { recordOutcome, runLoop } from '@recall/core/protocol'
import type { Site } from './site.ts'

export interface Found {
  price: string | null
  pages: number
}

/** A page that had prices, in long-term memory: what is sold there, and how often looking there was right. */
interface PriceList {
  type: 'playbook'
  text: string
  path: string
}

/** Looks for a price: first where memory says, then everywhere. */
export async function findPrice(memory: MemoryManager, site: Site, item: string): Promise<Found> {
  const goal = { description: `find the price of a ${item} in the shop` }
  const { reflection } = await runLoop(memory, goal, {
    // What do I know? Playbooks that fit the goal, the best first.
    perceive: ({ context }) => (context.playbooks as PriceList[]).map(({ path }) => path),
    // Where do I begin? At known lists, then at the front door.
    reason: ({ perception: known }) => ({ start: [...new Set([...known, '/'])] }),
    act: ({ decision }) => explore(site, decision.start, item),
    observe: ({ execution }) => ({ ...execution, pages: site.requests() }),
    reflect: ({ working: { observation } }) => ({
      outcome: observation.price === null ? 'failure' : 'success',
      lessons: [],
      toolsUsed: ['browser'],
      iterations: observation.pages,
      ...observation,
    }),
  })
  if (reflection.path !== null) await remember(memory, reflection.path, reflection.sold)
  return { price: reflection.price, pages: reflection.pages }
}

interface Exploration {
  price: string | null
  path: string | null
  /** Everything that is sold on the page where the price stood. */
  sold: string[]
}

/** Follows links breadth first until the price turns up. */
function explore(site: Site, start: readonly string[], item: string): Exploration {
  const queue = [...start]
  const seen = new Set<string>()
  for (let path = queue.shift(); path !== undefined; path = queue.shift()) {
    if (seen.has(path)) continue
    seen.add(path)
    const { links, prices } = site.visit(path)
    const price = prices[item]
    if (price !== undefined) return { price, path, sold: Object.keys(prices) }
    queue.push(...links)
  }
  return { price: null, path: null, sold: [] }
}

async function remember(memory: MemoryManager, path: string, sold: readonly string[]): Promise<void> {
  const key = `prices:${path}`
  if (!(await memory.exists('long-term', key))) {
    const list: PriceList = { type: 'playbook', path, text: `prices in the shop: ${sold.join(', ')}` }
    await memory.write('long-term', key, list, { tags: ['shop'] })
  }
  await recordOutcome(memory, key, 'success')
}
