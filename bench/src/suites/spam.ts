import { fakeEmbedder } from '@recall/embeddings'
import { workerEmbedder } from '@recall/embeddings/local'
import { createVectorIndex } from '@recall/store-postgres'
import {
  type SpamFigures,
  type SpamSizes,
  simulateSpam,
  spamKinds,
} from '../../../apps/hub/test/spam-simulation.ts'
import { openHub } from '../../../apps/hub/test/support.ts'
import { withDatabase } from '../postgres-database.ts'

export interface SpamSettings extends SpamSizes {
  /** Of a Postgres server. */
  postgres: string
  /** `local` knows meaning and takes its time, `fake` knows words. */
  embedder: 'local' | 'fake'
}

/** A thousand sybils, templates, copies and a ring against a hub on a real server, end to end through the API. */
export function measureSpam({ postgres, embedder: name, ...sizes }: SpamSettings): Promise<SpamFigures> {
  const embedder = name === 'local' ? workerEmbedder() : fakeEmbedder({ dimensions: 384 })
  return withDatabase(postgres, async ({ database }) => {
    await createVectorIndex(
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

/** What was attacked, and what came of it. */
export function spamReport(figures: SpamFigures, facts: Record<string, unknown>): string {
  const { surfaced, queries } = figures
  const verdict = (holds: boolean): string => (holds ? 'yes' : '**no**')
  const rows: [string, string | number, string, boolean][] = [
    ...spamKinds.map((kind): [string, number, string, boolean] => [
      `${kind} in the first ten of a trusted agent, ${queries} queries`,
      surfaced[kind],
      '0',
      surfaced[kind] === 0,
    ]),
    [
      'queries answered first by the lesson they ask for',
      figures.answered,
      String(queries),
      figures.answered === queries,
    ],
    ['sybils who became trusted', figures.promoted, '0', figures.promoted === 0],
    [
      'trusted readers until an honest newcomer is trusted',
      figures.newcomerNeeded,
      '1',
      figures.newcomerNeeded === 1,
    ],
    [
      'own posts that sampled spammers find',
      figures.ownFound,
      String(figures.ownAsked),
      figures.ownFound === figures.ownAsked,
    ],
    [
      'differences between the answers to a spammer and to a trusted author',
      figures.hints.length,
      '0',
      figures.hints.length === 0,
    ],
  ]
  return `# spam

${Object.entries(facts)
  .map(([fact, value]) => `- ${fact}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
  .join('\n')}

${figures.posts} posts of advertising, templates, copies of good memories and text that steers agents, a quarter each, against ${figures.lessons} lessons of trusted agents; every call goes through the API of one hub. A query has ${figures.goodResults.toFixed(1)} good results on the average: the other places of the first ten were there for spam to take. Advertising and steering begin with the very words of a query.

| what | measured | aim | holds |
|---|---|---|---|
${rows.map(([what, measured, aim, holds]) => `| ${what} | ${measured} | ${aim} | ${verdict(holds)} |`).join('\n')}
`
}

/** Whether spam stayed where it belongs. */
export const heldOff = ({ surfaced, promoted }: SpamFigures): boolean =>
  promoted === 0 && Object.values(surfaced).every((count) => count === 0)
