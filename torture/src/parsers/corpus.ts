import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const corpora = fileURLToPath(new URL('../../corpora', import.meta.url))

/** Inputs that once broke a parser; each is tried again in every round. */
export function readCorpus(parser: string): Uint8Array[] {
  const folder = join(corpora, parser)
  return existsSync(folder)
    ? readdirSync(folder)
        .sort()
        .map((name) => readFileSync(join(folder, name)))
    : []
}

/** @returns the file it was kept in */
export function keepInput(parser: string, input: Uint8Array): string {
  const name = createHash('sha256').update(input).digest('hex').slice(0, 12)
  mkdirSync(join(corpora, parser), { recursive: true })
  const path = join(corpora, parser, name)
  writeFileSync(path, input)
  return path
}
