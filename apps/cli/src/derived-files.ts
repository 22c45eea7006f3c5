/**
 * Whether a file in a memory's internal folder can be rebuilt or belongs to running processes: the index, locks, and
 * writers' notes for the index. Tombstones, the import journal and pending sessions are not derived.
 *
 * @param path relative to that folder
 */
export const isDerived = (path: string): boolean =>
  /^(?:index\.(?:db|seal)|lock|archiving\.lock|writers(?:[\\/]|$))/.test(path)
