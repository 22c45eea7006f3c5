import { defaultFileSystem, readConfig, setConfig, settingNames } from '@recall/store-file'
import { UsageError } from '../exit-codes.ts'
import type { RootOptions } from '../memory/find-root.ts'
import { withStore } from '../memory/with-store.ts'
import type { Io } from '../terminal/io.ts'

/** Shows all settings, shows one, or changes one. */
export async function config(
  io: Io,
  name: string | undefined,
  value: string | undefined,
  options: RootOptions & { json?: boolean },
): Promise<undefined> {
  return withStore(io, options, (store) => {
    if (name !== undefined && !settingNames.includes(name)) {
      throw new UsageError(`there is no setting '${name}'. The settings are: ${settingNames.join(', ')}`)
    }
    if (name !== undefined && value !== undefined) setConfig(store, name, value)
    const { config: current, problem } = readConfig(defaultFileSystem, store.root, store.layout)
    if (problem) io.err(`recall: ${problem}\n`)
    const settings: Record<string, unknown> = { 'ephemeral.max_entries': current.ephemeral.maxEntries }
    const shown = name === undefined ? settings : { [name]: settings[name] }
    if (options.json) io.out(`${JSON.stringify(shown)}\n`)
    else for (const [key, setting] of Object.entries(shown)) io.out(`${key} = ${String(setting)}\n`)
    return undefined
  })
}
