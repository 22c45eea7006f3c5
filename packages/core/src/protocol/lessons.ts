import { isJsonObject } from '../json.ts'
import type { MemoryManager } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { wordsOf } from '../ranking/words.ts'
import { redactText } from '../redaction/redact.ts'
import { shortDigest } from '../text/short-digest.ts'
import { learningOptionsSchema, lessonSchema } from './inputs.ts'
import { lessonKeyOf } from './learned-keys.ts'
import type { AnyLesson, Episode, Lesson, Outcome } from './types.ts'
import { updateEntry } from './update-entry.ts'

export interface ExecutionRecord {
  toolsUsed: string[]
  /** Default: any. */
  outcome?: Outcome | undefined
}

/** One lesson, however often it was learned and in whatever spelling. */
export interface CountedLesson {
  lesson: Lesson
  /** Episodes that taught it. */
  count: number
  /** Time of the last one. */
  lastSeen: number
}

export interface LessonGroup {
  category: string
  /** The most frequent first. */
  lessons: CountedLesson[]
}

export interface LearningRetriever {
  /** Lessons of episodes that used one of the tools, by category; the category with the most lessons comes first. */
  retrieveLessons(execution: ExecutionRecord): Promise<LessonGroup[]>
}

/**
 * @param options.limit most episodes that are looked at, the latest first, 1 to 1,000. Default 20
 * @throws MemoryError INVALID_INPUT when the limit is out of range, or an option is unknown
 */
export function createLearningRetriever(
  memory: MemoryManager,
  options: { limit?: number | undefined } = {},
): LearningRetriever {
  parseInput(learningOptionsSchema, options, 'options')
  const { limit = 20 } = options
  return {
    async retrieveLessons({ toolsUsed, outcome }) {
      const filters = { toolsUsed: { $overlap: toolsUsed }, ...(outcome ? { outcome } : {}) }
      const episodes = await memory.search<Partial<Episode>>('episodic', { filters }, { limit })
      return groupLessons(
        episodes.map(({ value, metadata }) => ({
          // Other programs write episodes, too.
          lessons: Array.isArray(value.lessonsLearned) ? value.lessonsLearned.filter(isLesson) : [],
          at: metadata.updatedAt,
        })),
      )
    },
  }
}

const isLesson = (given: unknown): given is Lesson =>
  typeof (given as Partial<Lesson> | null)?.text === 'string' &&
  typeof (given as Lesson).category === 'string'

function groupLessons(episodes: readonly { lessons: readonly Lesson[]; at: number }[]): LessonGroup[] {
  const groups = new Map<string, Map<string, CountedLesson>>()
  for (const { lessons, at } of episodes) {
    const known = new Map(lessons.map((lesson) => [identityOf(lesson), lesson]))
    for (const [name, lesson] of known) {
      const group = groups.get(lesson.category) ?? new Map<string, CountedLesson>()
      groups.set(lesson.category, group)
      const counted = group.get(name) ?? { lesson, count: 0, lastSeen: at }
      group.set(name, { ...counted, count: counted.count + 1, lastSeen: Math.max(counted.lastSeen, at) })
    }
  }
  const total = ({ lessons }: LessonGroup): number => lessons.reduce((sum, { count }) => sum + count, 0)
  return [...groups]
    .map(([category, lessons]) => ({
      category,
      lessons: [...lessons.values()].sort((a, b) => b.count - a.count || b.lastSeen - a.lastSeen),
    }))
    .sort((a, b) => total(b) - total(a))
}

/** Lessons that use the same words in the same order, and the same symbols, are the same: C++ is not C. */
const identityOf = ({ category, text }: AnyLesson): string =>
  JSON.stringify([category, [...wordsOf(text).map(({ term }) => term), ...(text.match(/[\p{S}#]/gu) ?? [])]])

/**
 * Key of a lesson in long-term memory; the same lesson always has the same key. Lessons that differ only in their
 * secrets are the same: a hash of the secret would confirm a guess at it.
 *
 * @throws MemoryError INVALID_INPUT when it has no text, or a category that cannot be a tag
 */
export async function lessonKey(lesson: Lesson | AnyLesson): Promise<string> {
  parseInput(lessonSchema, lesson, 'lesson')
  if (lesson.id) return lessonKeyOf(lesson.id)
  const [category = '', text = ''] = [lesson.category, lesson.text].map((each) => redactText(each).text)
  return `lesson:${await shortDigest(identityOf({ category, text }))}`
}

/**
 * Keeps a lesson in long-term memory and counts how often it was learned, even when several processes learn it at the
 * same moment. Any other members and tags of the entry stay.
 *
 * @returns its key
 * @throws MemoryError INVALID_INPUT when it has no text, or a category that cannot be a tag; CONFLICT when others keep
 * writing it
 */
export async function learn(memory: MemoryManager, lesson: Lesson | AnyLesson): Promise<string> {
  const key = await lessonKey(lesson)
  await updateEntry<Lesson & { count: number }>(memory, 'long-term', key, (known, metadata) => ({
    // A person may have edited and tagged it.
    value: {
      ...(isJsonObject(known) ? known : {}),
      ...lesson,
      type: 'lesson',
      count: (known?.count ?? 0) + 1,
    },
    tags: [...new Set(['lesson', lesson.category, ...(metadata?.tags ?? [])])],
  }))
  return key
}
