import type { FileEdit } from './target.ts'

/** A file that is entirely ours. If somebody else wrote it or changed it, it is left alone. */
export function ownFile(path: string, content: string): FileEdit {
  return {
    path,
    own: true,
    add: () => content,
    remove: (text) => (text === content ? null : text),
    byHand: content,
  }
}
