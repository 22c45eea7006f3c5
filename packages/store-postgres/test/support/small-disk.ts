import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/**
 * Runs a program, given the folder, with a disk of 260 MB mounted there that only it sees; or says why none can be
 * mounted here.
 */
export function runOnSmallDisk(program: URL, folder: string): { refused: string } | { output: string } {
  const script =
    'mount -t tmpfs -o size=260m small "$1" && exec "$0" --import tsx -C @recall/source "$2" "$1"'
  const { error, stdout, stderr } = spawnSync(
    'unshare',
    ['-rm', 'sh', '-c', script, process.execPath, folder, fileURLToPath(program)],
    { encoding: 'utf8' },
  )
  if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT')
    return { refused: 'there is no unshare' }
  if (error) throw error
  if (/^(?:unshare|mount): /m.test(stderr)) return { refused: stderr.trim() }
  return { output: `${stdout}${stderr}` }
}
