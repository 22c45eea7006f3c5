import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A seeded generator of numbers in [0, 1): mulberry32, public domain. */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export interface CorpusDocument {
  key: string
  title: string
  tags: string[]
  text: string
}

export interface CorpusQuery {
  text: string
  /** The document that the query was made from. */
  key: string
}

const vocabularySize = 12_000
const topicCount = 400
const wordsPerTopic = 40

/**
 * Notes of 50 to 400 words (mean about 190) over a Zipf vocabulary, each about one of 400 topics, with
 * identifiers, error codes and people in them. Synthetic: for comparing engines, not for judging quality.
 */
export function createCorpus(
  size: number,
  seed = 1,
): { documents: CorpusDocument[]; queries: CorpusQuery[] } {
  const random = createRandom(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T
  const vocabulary = createVocabulary(random)
  const cumulative = zipf(vocabulary.length)
  const common = (): string => vocabulary[search(cumulative, random())] as string
  const topics = Array.from({ length: topicCount }, () => Array.from({ length: wordsPerTopic }, common))
  const people = Array.from({ length: 60 }, () => capital(pick(vocabulary)))

  const documents = Array.from({ length: size }, (_, i): CorpusDocument => {
    const topic = pick(topics)
    const length = 50 + Math.floor((random() + random()) * 145)
    const identifier = `${pick(topic)}${capital(pick(topic))}${i}`
    const code = `E${1000 + Math.floor(random() * 9000)}`
    const sentences: string[] = []
    for (let words = 0; words < length; ) {
      const count = 6 + Math.floor(random() * 14)
      const sentence = Array.from({ length: count }, () => (random() < 0.3 ? pick(topic) : common()))
      sentences.push(`${capital(sentence.join(' '))}.`)
      words += count
    }
    const at = Math.floor(sentences.length / 2)
    sentences.splice(
      at,
      0,
      `${pick(people)} saw ${code} in ${identifier} and looked at src/${pick(topic)}/${pick(topic)}.ts.`,
    )
    const text = sentences
      .map((sentence, n) => sentence + (n % 4 === 3 ? '\n\n' : ' '))
      .join('')
      .trim()
    return {
      key: `note-${String(i).padStart(6, '0')}`,
      title: capital(topic.slice(0, 3).join(' ')),
      tags: [pick(topic)],
      text,
    }
  })
  return { documents, queries: createQueries(documents, random) }
}

/** 200 queries: a third name an identifier, a sixth an error code, the rest two to four words of one note. */
function createQueries(documents: CorpusDocument[], random: () => number): CorpusQuery[] {
  return Array.from({ length: 200 }, (): CorpusQuery => {
    const { key, text } = documents[Math.floor(random() * documents.length)] as CorpusDocument
    const words = [...new Set(text.match(/[a-z]{5,}/g) ?? [])]
    const some = (n: number): string =>
      Array.from({ length: n }, () => words[Math.floor(random() * words.length)]).join(' ')
    const kind = random()
    if (kind < 0.3) return { key, text: `${/ in (\S+) and looked/.exec(text)?.[1]} ${some(1)}` }
    if (kind < 0.45) return { key, text: `${/ saw (E\d+)/.exec(text)?.[1]} ${some(2)}` }
    return { key, text: some(2 + Math.floor(random() * 3)) }
  })
}

/** Writes the corpus as notes of long-term memory, as a person or another tool would. */
export function writeCorpus(root: string, documents: readonly CorpusDocument[]): void {
  const folder = join(root, 'memory', 'long-term')
  mkdirSync(folder, { recursive: true })
  for (const { key, title, tags, text } of documents) {
    const head = `---\nkey: "${key}"\ntype: "note"\ntags: ${JSON.stringify(tags)}\ncreated: "2026-03-06T10:30:00.000Z"\nupdated: "2026-03-06T10:30:00.000Z"\n---\n`
    writeFileSync(join(folder, `${key}.md`), `${head}# ${title}\n\n${text}\n`)
  }
}

function createVocabulary(random: () => number): string[] {
  const onsets = ['b', 'br', 'c', 'ch', 'cl', 'd', 'dr', 'f', 'fl', 'g', 'gr', 'h', 'j', 'k', 'l', 'm', 'n', 'p', 'pl', 'pr', 'qu', 'r', 's', 'sh', 'sl', 'st', 't', 'th', 'tr', 'v', 'w', 'z'] // biome-ignore format: one list
  const vowels = ['a', 'e', 'i', 'o', 'u', 'ai', 'ea', 'ou', 'oo', 'ie']
  const codas = ['', '', '', 'n', 'r', 's', 't', 'l', 'm', 'ck', 'nd', 'st', 'ng']
  const pick = (list: string[]): string => list[Math.floor(random() * list.length)] as string
  const words = new Set<string>()
  while (words.size < vocabularySize) {
    const syllables = 1 + Math.floor(random() * 3.2)
    words.add(Array.from({ length: syllables }, () => pick(onsets) + pick(vowels) + pick(codas)).join(''))
  }
  return [...words].sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
}

function zipf(size: number): Float64Array {
  const cumulative = new Float64Array(size)
  let sum = 0
  for (let i = 0; i < size; i++) cumulative[i] = sum += 1 / (i + 2.7)
  return cumulative.map((value) => value / sum)
}

/** First position whose cumulative share reaches the value. */
function search(cumulative: Float64Array, value: number): number {
  let low = 0
  let high = cumulative.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cumulative[middle] as number) < value) low = middle + 1
    else high = middle
  }
  return low
}

const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1)
