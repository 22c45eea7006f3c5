import type { MemoryManager, MemoryMatch, MemoryMetadata, SearchMode } from '../memory-manager.ts'
import { queryOf } from './query-text.ts'

/** The situation of an agent. Only the parts that are given are searched by. */
export interface Situation {
  tags?: readonly string[]
  /** In words. */
  description?: string
  /** Conditions that one element of a pattern's `preconditions` meets, in the language of filters. */
  preconditions?: Record<string, unknown>
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
  embed?: (text: string) => Promise<number[]>
  /** Shares of the parts in the score. Default `patternWeights`. */
  weights?: Record<keyof PatternMatch['matchedBy'], number>
  /** Most matches of each part. Default 10. */
  limit?: number
}

/** The description weighs a little more than declared tags and preconditions. */
export const patternWeights = { tags: 0.3, description: 0.4, preconditions: 0.3 } as const

/** Of the patterns that carry a tag, so many of the newest are compared by how many they share. */
const mostLookedAt = 1000

export interface PatternMatcher {
  /** Long-term patterns that share a tag, the meaning or a precondition with the situation, best first. */
  findMatchingPatterns<T = unknown>(situation: Situation): Promise<PatternMatch<T>[]>
}

/** Finds patterns in long-term memory by any part of a situation, each part with a search of its own. */
export function createPatternMatcher(
  memory: MemoryManager,
  options: PatternMatcherOptions = {},
): PatternMatcher {
  const { embed, weights = patternWeights, limit = 10 } = options

  const byTags = async (given: readonly string[]): Promise<Scored[]> => {
    const tags = [...new Set(given)]
    // A filter on `tags` would look at the member of that name where a value has one.
    const pages = await Promise.all(
      tags.map((tag) => memory.search('long-term', { tags: [tag] }, { limit: mostLookedAt, touch: false })),
    )
    const best = [...new Map(pages.flat().map((match) => [match.key, match])).values()]
      .map((match) => ({ match, score: share(tags, match.metadata.tags) }))
      .sort((a, b) => b.score - a.score || b.match.metadata.updatedAt - a.match.metadata.updatedAt)
      .slice(0, limit)
    // Only what is handed out counts as used.
    const keys = best.map(({ match }) => match.key)
    await memory.batchRead('long-term', keys)
    return best
  }

  const byDescription = async (description: string): Promise<Scored[]> => {
    const isSemantic = embed !== undefined && memory.capabilities['long-term'].semantic
    const query = isSemantic ? { embedding: await embed(description) } : { text: queryOf(description) }
    return (await memory.search('long-term', query, { limit })).map((match) => ({
      match,
      score: match.score,
    }))
  }

  const byPreconditions = async (conditions: Record<string, unknown>): Promise<Scored[]> => {
    const filters = { preconditions: { $elemMatch: conditions } }
    return (await memory.search('long-term', { filters }, { limit })).map((match) => ({ match, score: 1 }))
  }

  return {
    async findMatchingPatterns<T>(situation: Situation): Promise<PatternMatch<T>[]> {
      const { tags = [], description = '', preconditions } = situation
      const parts: [Part, Promise<Scored[]>][] = []
      if (tags.length > 0) parts.push(['tags', byTags(tags)])
      if (description.trim() !== '') parts.push(['description', byDescription(description)])
      if (preconditions) parts.push(['preconditions', byPreconditions(preconditions)])
      const found = await Promise.all(parts.map(async ([part, search]) => ({ part, matches: await search })))
      return rank(found, weights) as PatternMatch<T>[]
    },
  }
}

type Part = keyof PatternMatch['matchedBy']
type Scored = { match: MemoryMatch<unknown>; score: number }

function rank(found: { part: Part; matches: Scored[] }[], weights: Record<Part, number>): PatternMatch[] {
  const whole = found.reduce((sum, { part }) => sum + weights[part], 0)
  const patterns = new Map<string, PatternMatch>()
  for (const { part, matches } of found) {
    for (const { match, score } of matches) {
      const { key, value, metadata, mode } = match
      const pattern = patterns.get(key) ?? { key, value, metadata, mode, score: 0, matchedBy: {} }
      pattern.matchedBy[part] = score
      pattern.score += (score * weights[part]) / whole
      if (part === 'description') pattern.mode = mode
      patterns.set(key, pattern)
    }
  }
  return [...patterns.values()].sort(
    (a, b) => b.score - a.score || b.metadata.updatedAt - a.metadata.updatedAt,
  )
}

/** How many of the wanted tags an entry carries, 0..1. */
const share = (wanted: readonly string[], tags: readonly string[]): number =>
  wanted.filter((tag) => tags.includes(tag)).length / wanted.length
