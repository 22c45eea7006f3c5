import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Inputs that once broke a parser; each is tried again in every round. */
export function readCorpus(folder: string): Uint8Array[] {
  return existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => readFileSync(join(folder, name)))
    : []
}

/** @returns the file that it was stored in */
export function keepInput(folder: string, input: Uint8Array): string {
  const name = createHash('sha256').update(input).digest('hex').slice(0, 12)
  mkdirSync(folder, { recursive: true })
  const path = join(folder, name)
  writeFileSync(path, input)
  return path
}
