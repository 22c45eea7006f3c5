/**
 * Calls a listener, which may be asynchronous. Its errors are ignored: they must not change what a call answers, nor
 * end the process.
 */
export async function tell<Told>(listener: (told: Told) => unknown, told: Told): Promise<void> {
  try {
    await listener(told)
  } catch {}
}
