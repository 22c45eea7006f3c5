/** Stands for the standard streams where a file is expected. */
export const standardStream = '-'
