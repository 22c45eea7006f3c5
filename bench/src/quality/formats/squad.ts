import type { Collection } from '../data-set.ts'

/** SQuAD, and what is made after it in other languages, such as XQuAD and MLQA. */
export interface Squad {
  data: { paragraphs: { context: string; qas: SquadQuestion[] }[] }[]
}

interface SquadQuestion {
  id: string
  question: string
  /** Whether the paragraph only seems to answer it; such questions are left out. */
  is_impossible?: boolean
}

/** Each paragraph is a document, and the evidence of the questions that were asked about it. */
export function fromSquad({ data }: Squad, id: string): Collection {
  const paragraphs = data.flatMap((article) => article.paragraphs)
  return {
    id,
    docs: paragraphs.map(({ context }, i) => ({ id: String(i), session: null, time: null, text: context })),
    queries: paragraphs.flatMap(({ qas }, i) =>
      qas
        .filter((question) => !question.is_impossible)
        .map(({ id, question }) => ({ id, text: question, gold: [String(i)], category: 'all' })),
    ),
  }
}
