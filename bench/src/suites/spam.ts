import { fakeEmbedder } from '@recall/embeddings'
import { workerEmbedder } from '@recall/embeddings/local'
import { createVectorIndexes } from '@recall/store-postgres'
import { openHub } from '../../../apps/hub/test/support/open-hub.ts'
import {
  type SpamFigures,
  type SpamSizes,
  simulateSpam,
  spamKinds,
} from '../../../apps/hub/test/support/spam-simulation.ts'
import { withDatabase } from '../postgres-database.ts'
import { factLines, type Row, rowTable } from '../report.ts'

export interface SpamSettings extends SpamSizes {
  /** URL of a Postgres server. */
  postgres: string
  /** `local` knows meaning and takes its time, `fake` only knows words. */
  embedder: 'local' | 'fake'
}

/** A thousand sybils, templates, copies and a ring against a hub on a real server, end to end through the API. */
export function measureSpam({ postgres, embedder: name, ...sizes }: SpamSettings): Promise<SpamFigures> {
  const embedder = name === 'local' ? workerEmbedder() : fakeEmbedder({ dimensions: 384 })
  return withDatabase(postgres, async ({ database }) => {
    await createVectorIndexes(
      database,
      { table: 'memories', dimensions: embedder.dimensions },
      { concurrently: false },
    )
    try {
      return await simulateSpam(await openHub(database, undefined, { embedder }), sizes)
    } finally {
      await embedder.close?.()
    }
  })
}

/** The figures reached, next to the allowed ones. */
export function spamRows(figures: SpamFigures): Row[] {
  const { surfaced, queries, posts, answered, promoted, newcomerNeeded, ownFound, ownAsked, hints } = figures
  const none = (what: string, ours: number): Row => ({
    what,
    size: posts,
    ours,
    peer: 'aim',
    peers: 0,
    ratio: ours,
    bound: 0,
  })
  const all = (what: string, ours: number, peers: number): Row => ({
    what,
    size: posts,
    ours,
    peer: 'aim',
    peers,
    ratio: ours / peers,
    bound: 1,
    atLeast: true,
  })
  return [
    ...spamKinds.map((kind) =>
      none(`${kind} in the first ten of a trusted agent, ${queries} queries`, surfaced[kind]),
    ),
    all('queries answered first by the lesson they ask for', answered, queries),
    none('sybils who became trusted', promoted),
    all('an honest newcomer became trusted (1: by one trusted reader, 0: not at all)', newcomerNeeded, 1),
    all('own posts that sampled spammers find', ownFound, ownAsked),
    none('differences between the answers to a spammer and to a trusted author', hints.length),
  ]
}

/** What was attacked, and the outcome. */
export const spamReport = (figures: SpamFigures, facts: Record<string, unknown>): string => `# spam

${factLines(facts)}

${figures.posts} posts of advertising, templates, copies of good memories and text that steers agents, a quarter each, against ${figures.lessons} lessons of trusted agents; every call goes through the API of one hub. A query has ${figures.goodResults.toFixed(1)} good results on the average: the other places of the first ten were there for spam to take. Advertising and steering begin with the very words of a query.

${rowTable(spamRows(figures))}
`

/** Whether spam stayed where it belongs. */
export const heldOff = ({ surfaced, promoted }: SpamFigures): boolean =>
  promoted === 0 && Object.values(surfaced).every((count) => count === 0)
