import { type Document, isCollection, visit } from 'yaml'

/**
 * Whether a list or a mapping is a key somewhere. `toJS` prints such a key to make a name of it, which takes minutes
 * when it is a few hundred levels deep.
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
