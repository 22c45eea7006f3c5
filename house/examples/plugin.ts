import { memoryPlugin } from '@recall/agents'
import { archiveSession, assessHealth, createCheckpoint } from '@recall/sessions'
import { defaultFileSystem, layoutOf, openFileMemory, readConfig, readStatus } from '@recall/store-file'

export const { create } = memoryPlugin({
  archiveSession,
  createCheckpoint,
  open: (root) => openFileMemory({ root, create: true }),
  inspect(root) {
    const layout = layoutOf(defaultFileSystem, root)
    const settings = readConfig(defaultFileSystem, root, layout)
    const health = assessHealth(readStatus(defaultFileSystem, root, layout, settings))
    return { ...health, layout, maxEntries: settings.config.ephemeral.maxEntries }
  },
})
