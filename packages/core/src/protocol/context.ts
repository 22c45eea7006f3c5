import type { MemoryManager, MemoryMatch } from '../memory-manager.ts'
import { parseInput } from '../parse-input.ts'
import { contextOptionsSchema } from './inputs.ts'
import { queryOf } from './query-text.ts'
import type { AnyGoal, Goal } from './types.ts'

/** What an agent should know before it decides. Values are in order of their scores. */
export interface ContextBundle {
  playbooks: unknown[]
  similarEpisodes: unknown[]
  recentContext: unknown[]
  /** Scores of the three lists, 0..1, in the order of their values. */
  relevanceScores: { playbooks: number[]; episodes: number[]; recent: number[] }
  /** Estimated tokens of all values together. */
  tokens: number
  /** Matches that were left out because they did not fit the budget. */
  omitted: number
}

export interface ContextOptions {
  /** Most matches of each kind, 0 for none. Default 5 playbooks, 3 episodes, 10 recent ones. */
  limits?:
    | { playbooks?: number | undefined; episodes?: number | undefined; recent?: number | undefined }
    | undefined
  /** Tokens that all values together may take. Default 4,000. */
  maxTokens?: number | undefined
  /** Default: a token for every four characters of JSON, rounded up. */
  countTokens?: ((text: string) => number) | undefined
  /** Leave out playbooks and episodes that score below this, 0..1. Default 0. */
  minScore?: number | undefined
}

/**
 * Playbooks and successful episodes that fit a goal, and the recent context of the session. The best match of each
 * list is taken first, then the second ones, and so on; a match that exceeds the token budget is skipped.
 *
 * @throws MemoryError INVALID_INPUT when the goal has no description, or an option is out of range or unknown; as
 * `search` does
 */
export async function retrieveContext(
  memory: MemoryManager,
  goal: Goal | AnyGoal,
  options: ContextOptions = {},
): Promise<ContextBundle> {
  parseInput(contextOptionsSchema, options, 'options')
  const { limits = {}, maxTokens = 4000, minScore = 0, countTokens = quarterOfLength } = options
  const text = queryOf(goal?.description)
  const find: MemoryManager['search'] = async (scope, query, wanted) =>
    wanted?.limit === 0 ? [] : memory.search(scope, query, wanted)
  const [playbooks, episodes, recent] = await Promise.all([
    find('long-term', { text, filters: { type: 'playbook' } }, { limit: limits.playbooks ?? 5, minScore }),
    find('episodic', { text, filters: { outcome: 'success' } }, { limit: limits.episodes ?? 3, minScore }),
    find('short-term', { tags: ['context', 'session'] }, { limit: limits.recent ?? 10, sortBy: 'recency' }),
  ])
  const budget = createBudget(maxTokens, countTokens)
  const lists = [playbooks, episodes, recent]
  const taken: MemoryMatch<unknown>[][] = [[], [], []]
  for (let rank = 0; rank < Math.max(...lists.map(({ length }) => length)); rank++) {
    lists.forEach((list, i) => {
      const match = list[rank]
      if (match && budget.take(match.value)) taken[i]?.push(match)
    })
  }
  const values = (i: number): unknown[] => (taken[i] ?? []).map(({ value }) => value)
  const scores = (i: number): number[] => (taken[i] ?? []).map(({ score }) => score)
  return {
    playbooks: values(0),
    similarEpisodes: values(1),
    recentContext: values(2),
    relevanceScores: { playbooks: scores(0), episodes: scores(1), recent: scores(2) },
    tokens: budget.used(),
    omitted: budget.omitted(),
  }
}

const quarterOfLength = (text: string): number => Math.ceil(text.length / 4)

function createBudget(maxTokens: number, countTokens: (text: string) => number) {
  let used = 0
  let omitted = 0
  return {
    take(value: unknown): boolean {
      const tokens = countTokens(typeof value === 'string' ? value : JSON.stringify(value))
      if (used + tokens > maxTokens) {
        omitted++
        return false
      }
      used += tokens
      return true
    },
    used: () => used,
    omitted: () => omitted,
  }
}
