import type { JSONPath } from 'jsonc-parser'
import { isRecord } from '../json.ts'
import { isOwnCommand, startOf } from './command-line.ts'
import { change, cut, setMembers } from './json-text.ts'

/** Adds a hook to the list at a path of a JSON text, or brings what starts ours up to date. */
export function addHook(
  body: string,
  path: readonly string[],
  list: readonly unknown[],
  hook: unknown,
  eol: string,
): string {
  const place = ownPlace(list)
  if (place === undefined) return change(body, [...path, list.length], hook, eol, true)
  return setMembers(body, [...path, ...place], hookAt(list, place), startOf(commandOf(hook)), eol)
}

/** The list as `addHook` leaves it. */
export function withHook(list: readonly unknown[], hook: unknown): unknown[] {
  const place = ownPlace(list)
  if (place === undefined) return [...list, hook]
  const [entry, , inner] = place
  const own = { ...hookAt(list, place), ...startOf(commandOf(hook)) }
  if (inner === undefined) return list.with(entry, own)
  const around = list[entry] as object
  return list.with(entry, { ...around, hooks: innerHooks(around).with(inner, own) })
}

/** Removes our hooks from the list at a path of a JSON text. */
export function removeHooks(body: string, path: JSONPath, list: readonly unknown[]): string {
  let edited = body
  for (const [i, item] of [...list.entries()].reverse()) {
    if (isOwnHook(item)) edited = cut(edited, [...path, i])
    else {
      for (const [j, hook] of [...innerHooks(item).entries()].reverse()) {
        if (isOwnHook(hook)) edited = cut(edited, [...path, i, 'hooks', j])
      }
    }
  }
  return edited
}

type HookPlace = [entry: number] | [entry: number, 'hooks', inner: number]

/** The place of our command in a list of hooks: an entry, or inside one, which may hold hooks of others too. */
function ownPlace(list: readonly unknown[]): HookPlace | undefined {
  for (const [entry, item] of list.entries()) {
    const inner = innerHooks(item).findIndex(isOwnHook)
    if (inner !== -1) return [entry, 'hooks', inner]
    if (isOwnHook(item)) return [entry]
  }
  return undefined
}

const hookAt = (list: readonly unknown[], [entry, , inner]: HookPlace): object =>
  (inner === undefined ? list[entry] : innerHooks(list[entry])[inner]) as object

/** The command of a hook itself, which some hosts put in a list. */
const commandOf = (hook: unknown): unknown => innerHooks(hook)[0] ?? hook

const innerHooks = (item: unknown): unknown[] =>
  isRecord(item) && Array.isArray(item.hooks) ? item.hooks : []

/** Whether an entry is ours: only if every command in it is, since it may hold hooks of other tools too. */
function isOwnHook(item: unknown): boolean {
  if (!isRecord(item)) return false
  if (Array.isArray(item.hooks)) return item.hooks.length > 0 && item.hooks.every(isOwnHook)
  return isOwnCommand(item.command ?? item.bash)
}
