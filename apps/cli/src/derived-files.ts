/**
 * Whether a file in a memory's own folder comes back by itself, or belongs to running processes: the index, locks, and
 * what writers note for the index. What was forgotten, imported or waits for its archive does not.
 *
 * @param path relative to that folder
 */
export const isDerived = (path: string): boolean =>
  /^(?:index\.(?:db|seal)|lock|archiving\.lock|writers(?:[\\/]|$))/.test(path)
