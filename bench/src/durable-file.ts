import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

/** The barest durable write of a whole file: write, fsync, rename, fsync of the folder. */
export function writeDurably(path: string, text: string): void {
  const file = openSync(`${path}.tmp`, 'wx')
  writeSync(file, text)
  fsyncSync(file)
  closeSync(file)
  renameSync(`${path}.tmp`, path)
  const folder = openSync(dirname(path), 'r')
  fsyncSync(folder)
  closeSync(folder)
}
