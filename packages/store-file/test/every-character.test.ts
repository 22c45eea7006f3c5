import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { dateWords, indexedTerms } from '@recall/core/ranking'
import { expect, it } from 'vitest'
import { openFileMemory } from '../src/open-file-memory.ts'
import { temporaryRoot } from './support/temporary-root.ts'

it('indexes the same words as every other store, whatever characters they are made of', async () => {
  const root = temporaryRoot()
  mkdirSync(join(root, 'memory'))
  const text = paragraphs(charactersUpTo(0x20000)).join('\n\n')
  writeFileSync(join(root, 'memory', 'characters.md'), text)
  const memory = await openFileMemory({ root, layout: 'entity' })
  const [found] = await memory.search('long-term', { text: 'word' })
  await memory.close()
  const indexed = termsOf(join(root, 'memory/.recall/index.db'))
  const dated = `${text} ${dateWords(found?.metadata.createdAt ?? '')}`
  const expected = new Set(indexedTerms(dated).map(({ term }) => term.replaceAll('ς', 'σ')))
  expect([...expected].filter((term) => !indexed.has(term))).toEqual([])
  expect([...indexed].filter((term) => !expected.has(term))).toEqual([])
})

function charactersUpTo(end: number): string[] {
  const codes = Array.from({ length: end }, (_, code) => code)
  // The one sign that normal form takes apart: a word with the mark that is left begins behind it.
  const isTakenApart = (character: string): boolean => character === '\u2adc'
  return codes
    .map((code) => String.fromCodePoint(code))
    .filter((character) => character.isWellFormed() && !isTakenApart(character))
}

function paragraphs(characters: string[]): string[] {
  const found: string[] = []
  for (let from = 0; from < characters.length; from += 64) {
    const some = characters.slice(from, from + 64)
    found.push(`word ${some.map((character) => `q${character}z q${character}`).join(' ')}`)
  }
  return found
}

function termsOf(path: string): Set<string> {
  const index = new DatabaseSync(path)
  index.exec('CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words2, row)')
  const rows = index.prepare('SELECT term FROM terms').all() as { term: string }[]
  index.close()
  return new Set(rows.map(({ term }) => term))
}
