import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: object }
}

/**
 * Returns a check of answers against the description of the API.
 *
 * @throws Error from the check, for an answer that the description does not name or that has another shape
 */
export function describedBy(api: ApiDocument): (request: Request, answer: Response) => Promise<void> {
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'api', components: api.components })
  const isOfShape = (schema: object, body: unknown): boolean => ajv.validate(withinApi(schema), body)
  const operationOf = operationsIn(api)
  return async (request, answer) => {
    const operation = operationOf(request)
    const text = await answer.clone().text()
    if (!operation || text === '') return
    const { content = {} } = operation.responses[answer.status] ?? operation.responses.default ?? {}
    const type = answer.headers.get('Content-Type')?.split(';')[0] ?? ''
    const problem = (what: string) =>
      new Error(`${request.method} ${request.url} answered ${answer.status} ${what}: ${text.slice(0, 500)}`)
    const described = content[type]
    if (!described) throw problem(`as ${type}, which is not described`)
    if (type.endsWith('json') && !isOfShape(described.schema, JSON.parse(text)))
      throw problem(`not as described (${ajv.errorsText()})`)
  }
}

/** Finds the operation that a request calls: a path without parameters comes before one that has them. */
function operationsIn({ paths }: ApiDocument): (request: Request) => Operation | undefined {
  const patterns = Object.entries(paths)
    .sort(([a], [b]) => Number(a.includes('{')) - Number(b.includes('{')))
    .map(([path, methods]) => ({ pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), methods }))
  return ({ url, method }) =>
    patterns.find(({ pattern }) => pattern.test(new URL(url).pathname))?.methods[method.toLowerCase()]
}

const schemas = new WeakMap<object, object>()

/** The schema with references that a schema apart from the document can follow; the same one each time. */
function withinApi(schema: object): object {
  const known = schemas.get(schema)
  if (known) return known
  const made = JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object
  schemas.set(schema, made)
  return made
}
