/** Node on Windows reports EISDIR for a function that a disk formatted with exFAT does not have. */
const refusals = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EISDIR'])

/** Whether making a hard link failed because the file system has none, or allows no more of them. */
export const refusesHardLinks = (error: unknown): boolean =>
  refusals.has(String((error as NodeJS.ErrnoException | null)?.code))
