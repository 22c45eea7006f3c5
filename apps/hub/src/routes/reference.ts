import { html, raw } from 'hono/html'
import { newRoutes } from './app.ts'

interface Schema {
  $ref?: string
  description?: string
  type?: string | string[]
  format?: string
  enum?: unknown[]
  const?: unknown
  items?: Schema
  properties?: Record<string, Schema>
  required?: string[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
}

interface Operation {
  summary?: string
  security?: unknown[]
  parameters?: { name: string; in: string; required?: boolean; schema?: Schema }[]
  requestBody?: { content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string; content?: Record<string, { schema: Schema }> }>
}

interface ApiDocument {
  info: { title: string; version: string; description?: string }
  paths: Record<string, Record<string, Operation>>
  components?: { schemas?: Record<string, Schema> }
}

/**
 * The description of the API, for programs and as a page for people, which has no script and loads nothing. Both are
 * made once: nobody needs a key for them, and making them takes as long as many searches.
 *
 * @param describe returns the OpenAPI document
 */
export function referenceRoutes(describe: () => ApiDocument) {
  const make = () => {
    const api = describe()
    return { json: JSON.stringify(api), html: page(api) }
  }
  let made: ReturnType<typeof make> | undefined
  const description = () => {
    made ??= make()
    return made
  }
  return newRoutes()
    .get('/', (context) => context.redirect('/reference'))
    .get('/openapi.json', (context) =>
      context.body(description().json, 200, { 'Content-Type': 'application/json' }),
    )
    .get('/reference', (context) => {
      context.header('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'")
      return context.html(description().html)
    })
}

interface Call {
  method: string
  path: string
  operation: Operation
  /** The anchor of its section. */
  id: string
}

const callsOf = ({ paths }: ApiDocument): Call[] =>
  Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const words = [method, ...(path.match(/[a-z0-9]+/gi) ?? [])]
      return { method: method.toUpperCase(), path, operation, id: words.join('-') }
    }),
  )

const page = (api: ApiDocument) => html`<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width">
    <title>${api.info.title} API</title>
    <style>${raw(style)}</style>
  </head>
  <body>
    <main>
      <h1>${api.info.title} <small>${api.info.version}</small></h1>
      <p>${api.info.description ?? ''} Machines read <a href="/openapi.json">openapi.json</a>, agents <a href="/skill.md">skill.md</a>.</p>
      <nav>
        <dl>${callsOf(api).map(
          ({ id, method, path, operation }) =>
            html`<dt><a href="#${id}"><code>${method} ${path}</code></a></dt><dd>${operation.summary}</dd>`,
        )}</dl>
      </nav>
      ${callsOf(api).map(section)}
      <h2 id="schemas">Schemas</h2>
      ${Object.entries(api.components?.schemas ?? {}).map(
        ([name, schema]) => html`<h3 id="${name}">${name}</h3>${members(schema)}`,
      )}
    </main>
  </body>
</html>`

const section = ({ id, method, path, operation }: Call) => html`
  <section id="${id}">
    <h2><code><b>${method}</b> ${path}</code></h2>
    <p>${sentence(operation.summary)}${operation.security ? '' : ' Needs no key.'}</p>
    ${
      operation.parameters?.length
        ? html`<dl>${operation.parameters.map(
            ({ name, in: place, required, schema }) =>
              html`<dt><code>${name}</code></dt><dd>${place}, ${typeOf(schema)}${required ? '' : ', optional'}${meaningOf(schema)}</dd>`,
          )}</dl>`
        : ''
    }
    ${Object.entries(operation.requestBody?.content ?? {}).map(
      ([, { schema }]) => html`<h3>Body</h3>${members(schema)}`,
    )}
    ${Object.entries(operation.responses).map(
      ([status, { description, content }]) => html`
        <h3>${status}: ${description}</h3>
        ${Object.values(content ?? {}).map(({ schema }) => members(schema))}`,
    )}
  </section>`

const sentence = (text = ''): string => (/[^.]$/.test(text) ? `${text}.` : text)

function members(schema: Schema): ReturnType<typeof html> {
  const { properties, required = [] } = schema
  if (!properties) return html`<p>${typeOf(schema)}</p>`
  return html`<dl>${Object.entries(properties).map(
    ([name, member]) =>
      html`<dt><code>${name}</code></dt><dd>${typeOf(member)}${required.includes(name) ? '' : ', optional'}${meaningOf(member)}${within(member)}</dd>`,
  )}</dl>`
}

/** The members of an object without its own name, or of the objects in a list. */
function within({ items, allOf = [], ...schema }: Schema): ReturnType<typeof html> | string {
  const inner = [items ?? schema, ...allOf]
  return html`${inner.map((each) => (each.properties ? members(each) : ''))}`
}

const meaningOf = (schema: Schema | undefined): string =>
  schema?.description ? `. ${schema.description}` : ''

function typeOf(schema: Schema | undefined): ReturnType<typeof html> | string {
  if (!schema) return 'any'
  if (schema.$ref) {
    const name = schema.$ref.split('/').at(-1) ?? ''
    return html`<a href="#${name}">${name}</a>`
  }
  if (schema.const !== undefined) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ')
  if (schema.items) return html`list of ${typeOf(schema.items)}`
  if (schema.allOf)
    return html`${schema.allOf.map((each, i) => html`${i > 0 ? ' and ' : ''}${typeOf(each)}`)}`
  const either = schema.anyOf ?? schema.oneOf
  if (either) return html`${either.map((each, i) => html`${i > 0 ? ' | ' : ''}${typeOf(each)}`)}`
  const type = Array.isArray(schema.type) ? schema.type.join(' | ') : schema.type
  return [type ?? 'any', schema.format].filter(Boolean).join(', ')
}

const style = `
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
  main { overflow-wrap: anywhere }
  section { border-top: 1px solid #8884; margin-top: 2rem }
  h2 { font-size: 1.1rem } h3 { font-size: 1rem; margin: 1rem 0 0 }
  dl { display: grid; grid-template-columns: fit-content(50%) 1fr; gap: 0 1rem; margin: .25rem 0 } dd { margin: 0 }
  @media (max-width: 30rem) { dl { display: block } dd { margin-left: 1rem } }
  @media (prefers-color-scheme: dark) { body { background: #111; color: #ddd } a { color: #8bf } }
`
