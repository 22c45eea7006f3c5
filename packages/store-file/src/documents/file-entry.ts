import { conversationType, type JsonValue } from '@recall/core'
import { splitUnits, type Unit } from '@recall/core/ranking'
import { parseInstant } from '@recall/core/text'

/** One entry as a file holds it, before access counts and addresses are added. */
export interface FileEntry {
  key: string
  /** Set when nothing in the file states its key, so that its name does. */
  named?: boolean
  type: string | null
  tags: string[]
  value: JsonValue
  /** The text that searches find it by; empty when it is not indexed. */
  text: string
  created: number
  updated: number
  ttl: number | null
  expires: number | null
  /** Line of the file on which `text` begins, counted from 1. */
  line: number
  /** Set when `text` does not appear in the file verbatim, so that its lines have no line numbers. */
  derived?: boolean
  /** Conversation archives only. */
  session?: string
  part?: number
  number?: number
  /** The members that filters can test without opening the file; `null` when they need the value. */
  fields: JsonValue
  /** A namespace that differs from how the folder spells it. */
  namespace?: string
  /** What is wrong with the file, for `doctor`. */
  problem?: string
}

/** Times to use when the file itself names none. */
export interface FileTimes {
  modified: number
}

/** A time, as `parseInstant` reads it; `undefined` when the text is not one. */
export function parseTime(value: unknown): number | undefined {
  if (typeof value !== 'string') return undefined
  const time = parseInstant(value)
  return Number.isNaN(time) ? undefined : time
}

export const printTime = (time: number): string => new Date(time).toISOString()

/**
 * The texts of a list, as people write it: a single one may stand by itself, and YAML reads `2026` as a number and
 * `true` as a boolean.
 */
export const stringsOf = (value: unknown): string[] =>
  [value]
    .flat()
    .filter((item) => ['string', 'number', 'boolean'].includes(typeof item))
    .map(String)

/** The units of an entry; an entry without text has none. */
export const unitsOf = ({ text, type }: Pick<FileEntry, 'text' | 'type'>): Unit[] =>
  splitUnits(text, type === conversationType)
