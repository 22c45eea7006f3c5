import { type Conversation, MemoryError, MemoryErrorCode } from '@recall/core'
import { isChatDocument, readChatDocument } from './gemini/read-chat.ts'
import { hostFormats, recogniseHost } from './host-formats.ts'
import { neutralFormats, openNeutralTranscript } from './neutral/read-transcript.ts'
import { openFile } from './reading/open-file.ts'
import { readJsonDocument } from './reading/read-json-document.ts'
import { containerOf, sessionContainers, splitAddress } from './session-containers.ts'

/**
 * Opens a transcript in any format that Recall understands. The content decides, not the file's name. `<file>#<id>`, as
 * `listImportable` returns it, opens one session of a file of many.
 *
 * @throws MemoryError NOT_FOUND or FORBIDDEN when the file cannot be opened, INVALID_INPUT when its format is not a
 * known one; never returns an empty conversation instead of an error
 */
export async function openTranscript(path: string): Promise<Conversation> {
  const address = splitAddress(path)
  const addressed = address && containerOf(address.file)
  if (addressed) return addressed.read(address.file, address.id)
  const host = await recogniseHost(path)
  if (host === null) await refuseMany(path)
  const chat = host === null ? await readChat(path) : null
  if (chat !== null) return chat
  const conversation = host === null ? await openNeutralTranscript(path) : await host.read(path)
  if (conversation !== null) return conversation
  if (await isUtf16(path)) throw utf16(path)
  const formats = [
    ...hostFormats.map(({ name }) => name),
    ...sessionContainers.map(({ format }) => format),
    ...neutralFormats,
  ]
  throw new MemoryError(
    `${path} is not a transcript that Recall can read. It understands: ${formats.join('; ')}`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path, formats } },
  )
}

/** Whether a file begins with the byte order mark of UTF-16. */
async function isUtf16(path: string): Promise<boolean> {
  const file = await openFile(path)
  try {
    const { buffer } = await file.read(Buffer.alloc(2), 0, 2, 0)
    return ['fffe', 'feff'].includes(buffer.toString('hex'))
  } finally {
    await file.close()
  }
}

/** Decoding it would not help: characters beyond ASCII are already wrong. */
const utf16 = (path: string): MemoryError =>
  new MemoryError(
    `${path} is UTF-16 text, which Windows PowerShell makes when it redirects output, with wrong letters: make the file again with cmd /c "… > file"`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )

/** @throws MemoryError INVALID_INPUT for an export or a log, because one of what it holds must be named */
async function refuseMany(path: string): Promise<void> {
  const container = containerOf(path)
  const all = container && !container.isCopied ? await container.list(path) : null
  if (!container || all === null) return
  const [file, sessions] = container.called
  const [first] = all.keys()
  throw new MemoryError(
    `${path} is ${file} of ${all.size} ${sessions}: import them all, or name one, for example ${path}#${first}`,
    MemoryErrorCode.INVALID_INPUT,
    { details: { path } },
  )
}

/** Reads a chat that is one JSON document, which cannot be recognised line by line; `null` for any other file. */
async function readChat(path: string): Promise<Conversation | null> {
  const value = /\.json$/i.test(path) ? await readJsonDocument(path) : undefined
  return isChatDocument(value) ? readChatDocument(path, value) : null
}
