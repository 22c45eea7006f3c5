/** SHA-256 in hexadecimal. Loads Node's hashes only when called: that takes a tenth of a short command's time. */
export const sha256 = (data: string | Uint8Array): string =>
  process.getBuiltinModule('node:crypto').createHash('sha256').update(data).digest('hex')
