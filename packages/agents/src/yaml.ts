import { type Document, isCollection, visit } from 'yaml'

/**
 * Whether a list or a mapping is used as a key. `toJS` prints such a key to make a name of it, which takes minutes for
 * a key of a few hundred levels.
 */
export function hasNestedKeys(document: Document): boolean {
  let found = false
  visit(document, {
    Pair(_, { key }) {
      if (!isCollection(key)) return undefined
      found = true
      return visit.BREAK
    },
  })
  return found
}
