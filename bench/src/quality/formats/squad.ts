import { z } from 'zod'
import type { Collection } from '../data-set.ts'

const question = z.object({
  id: z.union([z.string(), z.number()]),
  question: z.string(),
  /** Whether the paragraph only seems to answer it; such questions are left out. */
  is_impossible: z.boolean().nullish(),
})

/** SQuAD, and data sets modelled on it in other languages, such as XQuAD and MLQA. */
export const squad = z.object({
  data: z.array(z.object({ paragraphs: z.array(z.object({ context: z.string(), qas: z.array(question) })) })),
})

/** Each paragraph is a document, and the evidence of the questions that were asked about it. */
export function fromSquad({ data }: z.output<typeof squad>, id: string): Collection {
  const paragraphs = data.flatMap((article) => article.paragraphs)
  return {
    id,
    docs: paragraphs.map(({ context }, i) => ({ id: String(i), session: null, time: null, text: context })),
    queries: paragraphs.flatMap(({ qas }, i) =>
      qas
        .filter((question) => !question.is_impossible)
        .map(({ id, question }) => ({ id: String(id), text: question, gold: [String(i)], category: 'all' })),
    ),
  }
}
