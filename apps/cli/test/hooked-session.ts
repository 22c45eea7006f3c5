import { createShell, poolSession, writeSession } from './support.ts'

/** What a host passes to a hook. */
export const event = (fields: Record<string, unknown>): string => JSON.stringify(fields)

/** A memory, a session and what runs a hook with an event of it. */
export const hooked = async () => {
  const shell = createShell()
  await shell.run('init')
  const transcript = writeSession(shell.root, 's1', poolSession)
  const run = (name: string, hook_event_name: string) =>
    shell
      .withInput(event({ session_id: 's1', transcript_path: transcript, hook_event_name }))
      .run('hook', name)
  return { shell, transcript, run }
}
