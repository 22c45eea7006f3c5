import { MemoryError } from '@recall/core'

/** The formats that were tried for a file of no known format. */
export const formatsIn = ({ details }: MemoryError): string[] | undefined =>
  Array.isArray(details?.formats) ? details.formats : undefined

/** Why a file cannot be read, without the formats: for many files they are listed once. */
export const withoutFormats = (error: MemoryError, path: string): string =>
  formatsIn(error) ? `${path} is not a transcript that Recall can read` : error.message

/** If nothing can be read: fails as for one path alone, and names each. */
export function throwAll(errors: readonly MemoryError[]): void {
  const [first] = errors
  if (first)
    throw new MemoryError(errors.map(({ message }) => message).join('; '), first.code, { cause: first })
}
