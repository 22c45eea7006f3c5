import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError, MemoryErrorCode } from '@recall/core'
import { createFolder } from '@recall/core/process'
import * as z from 'zod/mini'
import { digest, readBytes, removeEmpty, replaceBytes } from './files.ts'
import type { Wiring } from './target.ts'

const wiredSchema = z.object({
  command: z.array(z.string()),
  root: z.string(),
  recallPrompts: z.boolean(),
  consume: z.boolean(),
})

/** What was wired into a host: enough to check whether it still works, and to do it again. */
export type Wired = Pick<Wiring, 'command' | 'root' | 'recallPrompts' | 'consume'>

const receiptSchema = z.object({
  version: z.literal(1),
  /** Absent if a custom program made the edits. */
  wired: z.optional(wiredSchema),
  /** Folders that were created for the files, outermost first. */
  folders: z.array(z.string()),
  files: z.array(
    z.object({
      path: z.string(),
      /** Name of the file next to the receipt that holds the original bytes; absent when there was no file. */
      original: z.optional(z.string()),
      /** SHA-256 of what was written. */
      written: z.string(),
      /** SHA-256 of what was written before that: a process that was killed in between left it in place. */
      replaced: z.optional(z.string()),
    }),
  ),
})
export type Receipt = z.output<typeof receiptSchema>
export type ReceiptFile = Receipt['files'][number]

interface FileBytes {
  original: Buffer | null
  before: Buffer | null
  after: string
}

/**
 * Opens the record of what an installer changed, with the original bytes, in a folder of its own. It is written before
 * each change, so that an interrupted change can be undone too.
 */
export function openReceipt(folder: string) {
  const path = join(folder, 'receipt.json')
  const receipt = readReceipt(path)

  const save = (): void => {
    createFolder(folder, 0o700)
    const { version, wired, folders, files } = receipt
    replaceBytes(path, `${JSON.stringify({ version, wired, folders, files }, null, 2)}\n`)
  }
  const find = (file: string): ReceiptFile | undefined => receipt.files.find((each) => each.path === file)
  const wrote = (file: string, bytes: Buffer): boolean => {
    const entry = find(file)
    return entry !== undefined && [entry.written, entry.replaced].includes(digest(bytes))
  }
  /** A free name for another backup. Files come and go, so their number says nothing. */
  const freeName = (): string => {
    const taken = new Set(receipt.files.map(({ original }) => original))
    for (let n = 1; ; n++) if (!taken.has(`original-${n}`)) return `original-${n}`
  }

  return {
    files: receipt.files as readonly ReceiptFile[],
    folders: receipt.folders as readonly string[],
    wired: receipt.wired,
    find,
    /** The original bytes; `null` when there was no file. */
    originalOf: ({ original }: ReceiptFile): Buffer | null => {
      if (original === undefined) return null
      const bytes = readBytes(join(folder, original))
      if (bytes !== null) return bytes
      throw new MemoryError(
        `the backup ${join(folder, original)} is missing: nothing was changed`,
        MemoryErrorCode.CORRUPTION,
        { details: { path: join(folder, original) } },
      )
    },
    /** Whether a file holds what we wrote into it last, or the time before that. */
    wrote,
    /**
     * Records what a file will hold.
     *
     * @param bytes.original its content before the first change, `null` for no file
     * @param bytes.before its content now
     */
    note(file: string, { original: bytes, before, after }: FileBytes): void {
      const earlier = find(file)
      const original = bytes === null ? undefined : (earlier?.original ?? freeName())
      if (bytes !== null && original !== undefined) {
        createFolder(folder, 0o700)
        replaceBytes(join(folder, original), bytes)
      }
      const entry = {
        path: file,
        ...(original === undefined ? {} : { original }),
        written: digest(after),
        ...(before !== null && wrote(file, before) ? { replaced: digest(before) } : {}),
      }
      if (earlier) receipt.files.splice(receipt.files.indexOf(earlier), 1, entry)
      else receipt.files.push(entry)
      save()
    },
    noteFolders(folders: readonly string[]): void {
      const added = folders.filter((each) => !receipt.folders.includes(each))
      if (added.length === 0) return
      receipt.folders.push(...added)
      save()
    },
    noteWired({ command, root, recallPrompts, consume }: Wired): void {
      receipt.wired = { command: [...command], root, recallPrompts, consume }
      save()
    },
    /** Forgets a file whose change was undone. */
    done(file: string): void {
      const entry = find(file)
      if (!entry) return
      receipt.files.splice(receipt.files.indexOf(entry), 1)
      save()
      if (entry.original) rmSync(join(folder, entry.original), { force: true })
    },
    /** Removes the receipt itself, and then those of the parent folders that are empty. */
    remove(parents: readonly string[]): void {
      rmSync(folder, { recursive: true, force: true })
      removeEmpty(parents)
    },
  }
}

export type OpenReceipt = ReturnType<typeof openReceipt>

function readReceipt(path: string): Receipt {
  const bytes = readBytes(path)
  if (bytes === null) return { version: 1, folders: [], files: [] }
  try {
    return receiptSchema.parse(JSON.parse(bytes.toString('utf8')))
  } catch (cause) {
    throw new MemoryError(
      `${path} is damaged: it says what recall changed. Move it away to go on without it`,
      MemoryErrorCode.CORRUPTION,
      { cause, details: { path } },
    )
  }
}
