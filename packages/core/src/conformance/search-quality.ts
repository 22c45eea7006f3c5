import { expect } from 'vitest'
import { createMemoryManager } from '../front/create-memory-manager.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { conversationKey } from '../session-keys.ts'
import { createInMemoryStore } from '../stores/in-memory-store.ts'
import { createConceptEmbedder } from './concept-embedder.ts'
import { keysFound } from './expectations.ts'
import { law, type Theme } from './harness.ts'
import { notes, questions } from './quality-corpus.ts'
import { writeConversation } from './write-conversation.ts'

/** Recall at 5 and mean reciprocal rank over all questions. */
async function quality(memory: MemoryManager): Promise<{ recall: number; rank: number }> {
  await memory.batchWrite(
    'long-term',
    Object.entries(notes).map(([key, value]) => ({ key, value })),
  )
  let recall = 0
  let rank = 0
  for (const { text, answers } of questions) {
    const found = await keysFound(memory, 'long-term', { text }, { limit: 5 })
    recall += answers.filter((key) => found.includes(key)).length / answers.length
    const first = found.findIndex((key) => answers.includes(key))
    rank += first === -1 ? 0 : 1 / (first + 1)
  }
  return { recall: recall / questions.length, rank: rank / questions.length }
}

export const searchQuality: Theme = {
  title: 'Search quality',
  laws: [
    law(
      'Of 24 questions to 30 notes, words alone bring at least 90 percent of the answers among the first five.',
      async ({ memory }) => {
        expect((await quality(memory)).recall).toBeGreaterThanOrEqual(0.9)
      },
    ),

    law(
      'Over the same questions the mean reciprocal rank of the first answer is at least 0.85.',
      async ({ memory }) => {
        expect((await quality(memory)).rank).toBeGreaterThanOrEqual(0.85)
      },
    ),

    law(
      'Among 500 other notes the right one is still found first by the words that only it holds.',
      async ({ memory }) => {
        const others = Array.from({ length: 500 }, (_, i) => ({
          key: `note ${i}`,
          value: `Note ${i} about the release, the database, the tests and ticket ${i * 7}.`,
        }))
        await memory.batchWrite('long-term', [
          ...others,
          { key: 'needle', value: 'The release notes mention a zeppelin.' },
        ])
        for (const text of [
          'zeppelin',
          'the zeppelin in the release notes',
          'database tests release zeppelin',
        ]) {
          expect((await keysFound(memory, 'long-term', { text }, { limit: 5 }))[0]).toBe('needle')
        }
      },
    ),

    law(
      'A long text finds first the one note that holds its rare words, not those that share most of its words.',
      async ({ memory }) => {
        const everyday = everydayWords()
        const page = [
          ...everyday.slice(0, 100),
          'the zeppelin left Friedrichshafen without ballast',
          ...everyday.slice(100),
        ].join(' ')
        await memory.batchWrite('long-term', [
          ...Array.from({ length: 60 }, (_, i) => ({
            key: `note ${i}`,
            value: everyday.filter((_, j) => (i + j) % 2 === 0).join(' '),
          })),
          { key: 'needle', value: 'A zeppelin needs ballast, says the museum in Friedrichshafen.' },
        ])
        expect((await keysFound(memory, 'long-term', { text: page }, { limit: 5 }))[0]).toBe('needle')
      },
    ),

    law(
      'Long conversations come in one order in every store, each found by its best turn.',
      async ({ memory, time }) => {
        const { semantic, meaning = semantic } = memory.capabilities.episodic
        const reference = createMemoryManager({
          stores: createInMemoryStore(),
          clock: time.clock,
          ...(meaning ? { embedder: createConceptEmbedder() } : {}),
        })
        for (const each of [memory, reference]) {
          for (const [key, turns] of Object.entries(conversations)) {
            await writeConversation(each, key, turns)
          }
        }
        for (const text of conversationQuestions) {
          const [ours, theirs] = await Promise.all(
            [memory, reference].map(async (each) => {
              const found = await each.search('episodic', { text }, { limit: 3, passages: 1, touch: false })
              return found.map(({ key, passages }) => [key, passages?.[0]?.text])
            }),
          )
          expect(ours, text).toEqual(theirs)
        }
        await reference.close()
      },
      { embedder: createConceptEmbedder() },
    ),

    law(
      'A question that names a day by its distance from today finds what was said then.',
      async ({ memory }) => {
        const days = ['2025-12-31', '2025-12-29', '2025-11-20', '2024-05-08']
        for (const day of days) {
          await writeConversation(
            memory,
            day,
            ['Ana: The harbour again.', 'Ben: We agreed.'],
            `${day}T10:00:00Z`,
          )
        }
        const questions = {
          'what of the harbour yesterday': '2025-12-31',
          'what of the harbour three days ago': '2025-12-29',
          'what of the harbour last November': '2025-11-20',
          'what of the harbour on 2024-05-08': '2024-05-08',
        }
        for (const [text, day] of Object.entries(questions)) {
          expect((await keysFound(memory, 'episodic', { text }))[0], text).toBe(conversationKey(day))
        }
      },
    ),

    law(
      'A long note does not come before a short one that says the same, for being long.',
      async ({ memory }) => {
        const others = everydayWords().join(' ')
        const long = [others, others, others, others, others]
        await memory.batchWrite('long-term', [
          { key: 'short', value: 'The zeppelin left without ballast.' },
          {
            key: 'long',
            value: [...long, 'The zeppelin left without ballast, wrote the museum.'].join('\n\n'),
          },
          ...Array.from({ length: 20 }, (_, i) => ({ key: `${i}`, value: `${others} ${i}` })),
        ])
        expect(await keysFound(memory, 'long-term', { text: 'zeppelin ballast' })).toEqual(['short', 'long'])
      },
    ),

    law(
      'A long answer under many headings does not come before the turn that it answers.',
      async ({ memory }) => {
        const asked = 'The zeppelin has to be in Vienna on the ninth, how do we plan its voyage?'
        const others = Array.from({ length: 30 }, (_, i) => `Ben: Something else, number ${i}.`)
        await writeConversation(memory, 'voyage', [asked, longAnswer, ...others])
        const [found] = await memory.search('episodic', { text: 'zeppelin voyage Vienna' }, { passages: 1 })
        expect(found?.passages?.[0]?.text).toContain(asked)
      },
    ),
  ],
}

/** 200 words that mean nothing. */
const everydayWords = (): string[] =>
  [...'bdfghjklmnprstvwxzcq'].flatMap((first) =>
    [...'aeiou'].flatMap((vowel) => [`${first}${vowel}k`, `${first}${vowel}t`]),
  )

/** One turn of several units. */
const longAnswer = `In four steps:

## The zeppelin
A zeppelin on a voyage needs gas.

## The voyage
Of a voyage to Vienna, tell the zeppelin's crew.

## Vienna
A zeppelin has no dock in Vienna for its voyage.

## The crew
Each zeppelin has one, on each voyage.`

/** Each conversation has its own subject, with a turn or two that stray into the others. */
const conversations = {
  garage: [
    'Ana: My automobile makes a strange noise in the mornings.',
    'Ben: Did you have the engine looked at before the winter?',
    'Ana: The mechanic in Linz changed the spark plugs last month.',
    'Ben: Then it is the exhaust, mine rattled the same way.',
    'Ana: The garage wants four hundred euros for a new one.',
    'Ben: Ask Carla, she knows somebody who repairs them cheaply.',
    'Ana: She is on holiday until the ninth.',
    'Ben: Take the train then, the station is near your office.',
    'Ana: In this rain I would rather not walk.',
  ],
  kennel: [
    'Carla: We brought the puppy home on Sunday.',
    'Dan: What is its name, and does it bark at night?',
    'Carla: Pixel, and only when the neighbours come home late.',
    'Dan: Ours slept in the kitchen for the first weeks.',
    'Carla: The breeder in Graz gave us a blanket that smells of its mother.',
    'Dan: Have you been to the vet for the vaccination?',
    'Carla: On Thursday, and they charged sixty euros.',
    'Dan: Mine gets carsick, so we always walk there.',
    'Carla: Then we can go together to the meadow behind the station.',
  ],
  clinic: [
    'Eva: The physician says that the knee needs rest.',
    'Finn: How long until you can run again?',
    'Eva: Six weeks, and then slowly, with exercises every day.',
    'Finn: My nurse showed me some with a rubber band.',
    'Eva: Could you send me the names of them?',
    'Finn: Of course, I have the sheet at the office.',
    'Eva: The marathon in Vienna is lost for this year anyway.',
    'Finn: There is another one in Salzburg in autumn.',
    'Eva: By then the weather will be cooler as well.',
  ],
  voyage: ['Which vehicle is best for the meadow?', longAnswer, 'And what does the crew cost?', 'Ask Ben.'],
}

const conversationQuestions = [
  'how much does the new exhaust cost',
  'which doctor looked at the knee',
  'where did the dog come from',
  'what is the name of the puppy',
  'another marathon in autumn',
  'who knows somebody that repairs vehicles cheaply',
  'the voyage to Vienna and its crew',
]
