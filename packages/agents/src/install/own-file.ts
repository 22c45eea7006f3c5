import type { FileEdit } from './target.ts'

/** A file that is ours alone. One that somebody else wrote in its place, or changed, is left alone. */
export function ownFile(path: string, content: string): FileEdit {
  return {
    path,
    own: true,
    add: () => content,
    remove: (text) => (text === content ? null : text),
    byHand: content,
  }
}
