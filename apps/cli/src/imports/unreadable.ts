import { MemoryError } from '@recall/core'

/** The formats that a file of none of them could have had. */
export const formatsIn = ({ details }: MemoryError): string[] | undefined =>
  Array.isArray(details?.formats) ? details.formats : undefined

/** Why a file cannot be read, without the formats: of many files they are said once. */
export const withoutFormats = (error: MemoryError, path: string): string =>
  formatsIn(error) ? `${path} is no transcript that Recall can read` : error.message

/** Where nothing can be read: fails as for one path alone, and names each. */
export function throwAll(errors: readonly MemoryError[]): void {
  const [first] = errors
  if (first)
    throw new MemoryError(errors.map(({ message }) => message).join('; '), first.code, { cause: first })
}
