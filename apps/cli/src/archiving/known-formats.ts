import type { MemoryError } from '@recall/core'

/** The formats that were tried for a file of no known format. */
export const formatsIn = ({ details }: MemoryError): string[] | undefined =>
  Array.isArray(details?.formats) ? details.formats : undefined

/** Why a file cannot be read, without the formats: for many files they are listed once. */
export const withoutFormats = (error: MemoryError, path: string): string =>
  formatsIn(error) ? `${path} is not a transcript that Recall can read` : error.message
