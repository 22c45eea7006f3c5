import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { UsageError } from '../options.ts'

export function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    throw new UsageError(`${path} cannot be read as JSON: ${(error as Error).message}.`)
  }
}

/**
 * The content of a file, parsed as a form.
 *
 * @param place the file, or a line of it
 * @param form what it was taken for
 * @throws UsageError that says where the content differs, and what was expected there
 */
export function parseAs<Schema extends z.ZodType>(
  schema: Schema,
  content: unknown,
  place: string,
  form: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(content)
  if (!error) return data
  const [{ path, message } = { path: [], message: 'it cannot be read' }, ...others] = error.issues
  const at = path.length > 0 ? `${z.core.toDotPath(path)}: ` : ''
  const more = others.length > 0 ? `, and ${others.length} more like this` : ''
  throw new UsageError(
    `${place} is not as ${form} has it: ${at}${message.replace(/^Invalid input: /, '')}${more}.`,
  )
}
