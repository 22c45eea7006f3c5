const planned: Readonly<Record<string, string>> = {
  created: 'would create',
  changed: 'would change',
  restored: 'would restore',
  removed: 'would remove',
  edited: 'would edit',
}

/** What was done with a file, or in a dry run would be done, padded to a column. */
export const toldStatus = (status: string, isDry: boolean): string =>
  isDry ? (planned[status] ?? status).padEnd('would restore'.length) : status.padEnd('restored'.length)
