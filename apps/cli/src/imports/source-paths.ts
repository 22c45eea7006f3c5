import path from 'node:path'

/** Path of a file below a folder, with `/` on every platform: it identifies a note wherever it is imported. */
export const nameBelow = (
  folder: string,
  file: string,
  { relative, sep }: Pick<path.PlatformPath, 'relative' | 'sep'> = path,
): string => relative(folder, file).split(sep).join('/')

/** Whether a folder is a project's or lies in it. Programs on Windows write a drive in either case. */
export function isWithin(project: string, folder: string): boolean {
  const [whole, part] = [spelled(project), spelled(folder)]
  return part === whole || part.startsWith(`${whole}/`)
}

const spelled = (folder: string): string =>
  folder.replaceAll('\\', '/').replace(/^[a-z]:/, (drive) => drive.toUpperCase())
