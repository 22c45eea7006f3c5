import { matchesFilter } from '../filter/matches-filter.ts'
import { parseFilter } from '../filter/parse-filter.ts'
import type { JsonValue } from '../json.ts'
import type {
  MemoryManager,
  MemoryMatch,
  MemoryMetadata,
  SearchMode,
  SearchQuery,
} from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { patternMatcherOptionsSchema, situationSchema } from './inputs.ts'
import { queryOf } from './query-text.ts'

/** The situation of an agent. Only the parts that are given are searched by. */
export interface Situation {
  tags?: readonly string[] | undefined
  /** In words. */
  description?: string | undefined
  /**
   * What one element of a pattern's `preconditions` meets: any operand of `$elemMatch` in the language of filters, such
   * as conditions, a value, or a list of values.
   */
  preconditions?: unknown
}

export interface PatternMatch<T = unknown> {
  key: string
  value: T
  /** 0..1: the weighted mean of the parts that the situation has. */
  score: number
  /** Score of each part, 0..1; a part that did not match is absent. */
  matchedBy: { tags?: number; description?: number; preconditions?: number }
  /** How the description matched: `lexical` when vectors took no part. */
  mode: SearchMode
  metadata: MemoryMetadata
}

export interface PatternMatcherOptions {
  /** Embeds descriptions, for a memory without an embedder of its own. */
  embed?: ((text: string) => Promise<readonly number[] | Float32Array>) | undefined
  /** Shares of the parts in the score, each 0 or more and not all 0. Default `patternWeights`. */
  weights?: Record<keyof PatternMatch['matchedBy'], number> | undefined
  /** Most matches of each part. Default 10. */
  limit?: number | undefined
}

/** The description weighs a little more than declared tags and preconditions. */
export const patternWeights = { tags: 0.3, description: 0.4, preconditions: 0.3 } as const

/** Most patterns that are compared: the newest of those that carry a tag, and the nearest to a description. */
const mostLookedAt = 1000

export interface PatternMatcher {
  /**
   * Long-term patterns that share a tag, the meaning or a precondition with the situation, best first.
   *
   * @throws MemoryError INVALID_INPUT when the situation is invalid or has an unknown member; as `search` does
   */
  findMatchingPatterns<T = unknown>(situation: Situation): Promise<PatternMatch<T>[]>
}

/**
 * Finds patterns in long-term memory by any part of a situation, and scores each match by every part.
 *
 * @throws MemoryError INVALID_INPUT when an option is out of range or unknown
 */
export function createPatternMatcher(
  memory: MemoryManager,
  options: PatternMatcherOptions = {},
): PatternMatcher {
  parseInput(patternMatcherOptionsSchema, options, 'options')
  const { embed, weights = patternWeights, limit = 10 } = options

  // Only patterns that are returned count as accessed.
  const find = (query: SearchQuery, most: number): Promise<Match[]> =>
    memory.search('long-term', query, { limit: most, touch: false })

  const byTags = async (given: readonly string[]): Promise<Part> => {
    const tags = [...new Set(given)]
    // A filter on `tags` would look at a value's own member of that name.
    const pages = await Promise.all(tags.map((tag) => find({ tags: [tag] }, mostLookedAt)))
    return { name: 'tags', found: pages.flat(), scoreOf: ({ metadata }) => share(tags, metadata.tags) }
  }

  const byPreconditions = async (conditions: unknown): Promise<Part> => {
    const filters = { preconditions: { $elemMatch: conditions } }
    const filter = parseFilter(filters)
    // Among patterns that match nothing else, the newest are the best.
    const found = await find({ filters }, limit)
    const isMet = (value: unknown): boolean =>
      matchesFilter(filter, { value: value as JsonValue, metadata: {} })
    return { name: 'preconditions', found, scoreOf: ({ value }) => (isMet(value) ? 1 : undefined) }
  }

  const byDescription = async (description: string, most: number): Promise<Part> => {
    const isSemantic = embed !== undefined && memory.capabilities['long-term'].semantic
    const query = isSemantic ? { embedding: await embed(description) } : { text: queryOf(description) }
    const found = await find(query, most)
    const scores = new Map(found.map(({ key, score }) => [key, score]))
    return { name: 'description', found, scoreOf: ({ key }) => scores.get(key) }
  }

  return {
    async findMatchingPatterns<T>(situation: Situation): Promise<PatternMatch<T>[]> {
      const {
        tags = [],
        description = '',
        preconditions,
      } = parseInput(situationSchema, situation, 'situation')
      // A description alone does not need to score what other parts find.
      const most = tags.length > 0 || preconditions !== undefined ? mostLookedAt : limit
      const parts = await Promise.all([
        ...(tags.length > 0 ? [byTags(tags)] : []),
        ...(preconditions === undefined ? [] : [byPreconditions(preconditions)]),
        // Last, so that a pattern that several parts find keeps the description's `mode`.
        ...(description.trim() !== '' ? [byDescription(description, most)] : []),
      ])
      const patterns = bestOfEach(parts, rank(parts, weights), limit)
      const keys = patterns.map(({ key }) => key)
      if (keys.length > 0) await memory.batchRead('long-term', keys)
      return patterns as PatternMatch<T>[]
    },
  }
}

type PartName = keyof PatternMatch['matchedBy']
type Match = MemoryMatch<unknown>

/** What one part of a situation finds, and how it scores what any part finds. */
interface Part {
  name: PartName
  found: Match[]
  /** 0..1, or `undefined` for what does not match. */
  scoreOf(match: Match): number | undefined
}

/** All that any part has found, best first. */
function rank(parts: readonly Part[], weights: Record<PartName, number>): PatternMatch[] {
  const all = new Map(parts.flatMap(({ found }) => found.map((match) => [match.key, match])))
  const whole = parts.reduce((sum, { name }) => sum + weights[name], 0)
  return [...all.values()]
    .map((match): PatternMatch => {
      const { key, value, metadata, mode } = match
      const matchedBy: PatternMatch['matchedBy'] = {}
      let score = 0
      for (const { name, scoreOf } of parts) {
        const ofPart = scoreOf(match)
        if (ofPart === undefined) continue
        matchedBy[name] = ofPart
        score += ofPart * weights[name]
      }
      // If none of the parts has a weight, all patterns score 0.
      return { key, value, metadata, mode, score: whole > 0 ? score / whole : 0, matchedBy }
    })
    .sort((a, b) => b.score - a.score || b.metadata.updatedAt - a.metadata.updatedAt)
}

/** The first `limit` patterns that match each part, in the order given. */
function bestOfEach(parts: readonly Part[], patterns: PatternMatch[], limit: number): PatternMatch[] {
  const best = new Set(
    parts.flatMap(({ name }) =>
      patterns.filter(({ matchedBy }) => matchedBy[name] !== undefined).slice(0, limit),
    ),
  )
  return patterns.filter((pattern) => best.has(pattern))
}

/** How many of the wanted tags an entry carries, 0..1, or `undefined` for none. */
const share = (wanted: readonly string[], tags: readonly string[]): number | undefined =>
  wanted.filter((tag) => tags.includes(tag)).length / wanted.length || undefined
