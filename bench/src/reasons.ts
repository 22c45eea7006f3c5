import type { Row } from './report.ts'

interface Reason {
  suite: RegExp
  what: RegExp
  why: string
}

/** Why a bound does not hold, if that was investigated. The first reason that fits a row is used. */
const reasons: readonly Reason[] = [
  {
    suite: /^files$/,
    what: /^rebuild, ms/,
    why: 'beside reading and inserting, ours parses the YAML of every file, cuts long texts into units, counts what each scope holds and notes what each file was',
  },
  {
    suite: /^files$/,
    what: /documents\/s$/,
    why: 'the bare index, which only reads and inserts the same files, is itself but 19 to 26 times as fast as qmd in the same run; where the aim was set it was 34 times as fast',
  },
  {
    suite: /^files$/,
    what: /^index, MB/,
    why: 'the part of the index that does not depend on the size counts where there is little text',
  },
  {
    suite: /^files$/,
    what: /^cold query, ms/,
    why: 'by a profile, most of what comes on top of an empty process is loading: the driver of SQLite (a process with nothing but a bare FTS5 index pays that too) and our own code, although what the engine made of it is kept between calls; a quarter of the whole opens the index, sees that nothing changed, ranks and finds the lines; ripgrep starts in a few milliseconds, so where it has little to read no program on Node is as fast',
  },
  {
    suite: /^files$/,
    what: /^cold query.*peak MB/,
    why: 'a process takes 56 MB, and more when it looks at every file: what the system says of a hundred thousand files takes the rest until it ends',
  },
  {
    suite: /^files$/,
    what: /^warm query/,
    why: 'by a profile, a quarter is the match that the bare index makes too; the rest asks which entries the units belong to, how many hold each word, reads their rows, ranks, sees that no file changed and finds the passage in each file; this part hardly grows, so the ratio falls with the size',
  },
  {
    suite: /^files$/,
    what: /^durable note/,
    why: 'by a profile, three to four fifths are the two syncs that the bare protocol makes as well, fewer the faster the disk; the rest is looking that the folder is inside the memory and what stands under the name, redaction, the note for the index, and the lock under which the file is moved, so that no process overtakes another',
  },
  {
    suite: /^meaning$/,
    what: /^search by words and meaning/,
    why: 'comparing the vectors takes 2 to 3 ms of it; the rest is the search by words, which here looks at every near match of any of the words, see files',
  },
  {
    suite: /^meaning$/,
    what: /^texts of mixed lengths, wasm/,
    why: 'the WebAssembly build runs on one core and gains nothing from texts that come together; what padding is left costs 2 to 3 in 100',
  },
  {
    suite: /^peers$/,
    what: /^search over stdio/,
    why: 'the same search without MCP is three fifths of it; the rest is a message there and back over a pipe, which server-memory pays as well',
  },
  {
    suite: /^hub$/,
    what: /^recall@10 through the API/,
    why: 'the index draws its levels at random, so it comes out a little different each time it is built',
  },
  {
    suite: /^hub$/,
    what: /^search/,
    why: 'the pool sends one statement that only reads; a search of the hub ranks four candidates for each result, looks through what is of low signal, and writes down every result it gives, once for each agent, for trust and ranking; by a profile two thirds of its time are Postgres, of which a fifth writes down, and the rest is HTTP and its caller on the same two cores',
  },
  {
    suite: /^hub$/,
    what: /^writes/,
    why: 'the pool inserts one row; a write to the hub first looks for duplicates and related memories among all others, which is another search by the index, looks for secrets, and links what it found',
  },
  {
    suite: /^quality/,
    what: /refused/,
    why: 'what is left in the memory is about the same people, things and days, and as near to the question as an answer would be; what was tried is in docs/decisions/0015-confidence.md',
  },
  {
    suite: /^(hub|http)$/,
    what: /^GET/,
    why: 'every request is authenticated, counted against its limit, measured and logged; a bare Hono without any of it is measured beside it',
  },
]

/** Undefined if nobody has investigated yet. */
export const reasonFor = (suite: string, { what }: Row): string | undefined =>
  reasons.find((reason) => reason.suite.test(suite) && reason.what.test(what))?.why
