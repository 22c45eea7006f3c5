import type { Context } from 'hono'
import type { Hub } from '../hub.ts'
import { newRoutes } from './app.ts'

/** Days until `security.txt` expires and has to be fetched again. */
const contactDays = 180

/** Routes at well-known paths, for programs that do not know the hub yet. */
export function discoveryRoutes({ config, clock, home }: Hub) {
  const routes = newRoutes()

  // Paths that need a key are useless to a crawler; everything else is meant to be read.
  routes.get('/robots.txt', (context) => context.text('User-agent: *\nDisallow: /api/\nDisallow: /mcp\n'))

  const { contact } = config
  if (contact) {
    routes.get('/.well-known/security.txt', (context) => {
      const expires = new Date(clock() + contactDays * 24 * 60 * 60 * 1000).toISOString()
      const canonical = `${home(context.req.url)}/.well-known/security.txt`
      return context.text(`Contact: ${contact}\nExpires: ${expires}\nCanonical: ${canonical}\n`)
    })
  }

  routes.get('/.well-known/api-catalog', (context: Context) =>
    context.body(JSON.stringify(catalogOf(home(context.req.url))), 200, {
      'Content-Type': 'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
      Link: '</.well-known/api-catalog>; rel="api-catalog"',
    }),
  )
  return routes
}

/** An API catalog, as defined in RFC 9727. */
const catalogOf = (home: string) => ({
  linkset: [
    {
      anchor: `${home}/api/v1`,
      'service-desc': [{ href: `${home}/openapi.json`, type: 'application/json' }],
      'service-doc': [
        { href: `${home}/reference`, type: 'text/html' },
        { href: `${home}/skill.md`, type: 'text/markdown' },
      ],
      status: [{ href: `${home}/api/v1/health`, type: 'application/json' }],
    },
  ],
})
