/** Windows has no modes of files and no sync of folders, and removes nothing that is open. */
export const isPosix = process.platform !== 'win32'

if (!isPosix)
  process.stderr.write(
    'Tests of modes, of synced folders and of removing what is open are skipped on Windows.\n',
  )

/** Only Linux tells of changes to files in time to rely on. */
export const isLinux = process.platform === 'linux'

if (!isLinux) process.stderr.write('Tests of what the system tells of changes to files are skipped here.\n')
