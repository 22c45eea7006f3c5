import { isDeepYaml } from '@recall/core/text'
import { isCollection, parseDocument, visit } from 'yaml'

/**
 * The value of a YAML text, without aliases and merge keys.
 *
 * @throws Error naming what is wrong. A list or a mapping as a key is refused too: turning one into a name takes
 * minutes when it is a few hundred levels deep
 */
export function readYaml(text: string): unknown {
  if (isDeepYaml(text)) throw new Error('it is nested too deep')
  const document = parseDocument(text, { schema: 'core', merge: false, prettyErrors: false })
  const [problem] = document.errors
  if (problem) throw problem
  visit(document, {
    Pair(_, { key }) {
      if (isCollection(key)) throw new Error('a list or a mapping cannot be a key')
    },
  })
  return document.toJS({ maxAliasCount: 0 })
}
