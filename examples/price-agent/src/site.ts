/** A page of the shop: where it leads and what it says. */
export interface Page {
  links: string[]
  prices: Record<string, string>
}

/** The shop, standing in for the web. Nobody tells the agent how it is laid out. */
const pages: Record<string, Page> = {
  '/': { links: ['/about', '/offers', '/products'], prices: {} },
  '/about': { links: ['/about/jobs', '/about/press'], prices: {} },
  '/about/jobs': { links: [], prices: {} },
  '/about/press': { links: [], prices: {} },
  '/offers': { links: ['/products'], prices: { scarf: '12.00' } },
  '/products': { links: ['/products/garden', '/products/kitchen'], prices: {} },
  '/products/garden': { links: [], prices: { rake: '18.00' } },
  '/products/kitchen': { links: ['/products/kitchen/list'], prices: {} },
  '/products/kitchen/list': { links: [], prices: { kettle: '39.90', toaster: '24.50' } },
}

/** Counts what is asked of the shop. */
export function openSite() {
  let requests = 0
  return {
    visit(path: string): Page {
      requests++
      const page = pages[path]
      if (!page) throw new Error(`the shop has no page ${path}`)
      return page
    },
    requests: () => requests,
  }
}

export type Site = ReturnType<typeof openSite>
