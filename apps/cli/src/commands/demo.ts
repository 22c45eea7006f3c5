export async function demo(): Promise<undefined> {
  return undefined
}
