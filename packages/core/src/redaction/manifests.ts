import { isPassword } from './assignments.ts'
import type { ColumnFinder, ColumnSecret } from './columns.ts'

/** `name: value` of YAML, which may begin an item of a list, or the line between two documents. */
const lines =
  /^(?:---.{0,80}|(?<indent>[ \t]{0,40}(?<item>- )?)(?<name>[\w.-]{1,253}):[ \t]{0,8}(?<value>[^\n]{0,65536}?)[ \t]{0,80}\r?)$/gm

interface Member {
  /** How far its name is indented; below 0 for the line between two documents. */
  depth: number
  beginsItem: boolean
  name: string
  value: string
  /** The place of the value in the text. */
  start: number
}

/** How many lines above and below its data the kind of a manifest is searched for. */
const mostBetween = 200

/** The members of a `Secret` in manifests of Kubernetes: each of them is a secret, whatever its name. */
export const inManifests: ColumnFinder = { gate: ['kind: secret'], find: findInManifests }

function findInManifests(text: string): ColumnSecret[] {
  const members = [...text.matchAll(lines)].map(memberOf)
  return members.flatMap((member, i) => {
    const holdsSecrets = /^(?:data|stringData)$/.test(member.name) && member.value === ''
    if (!holdsSecrets || !isOfSecret(members, i)) return []
    let end = i + 1
    while ((members[end]?.depth ?? -1) > member.depth) end++
    return members.slice(i + 1, end).flatMap(secretOf)
  })
}

function memberOf({ 0: line, index, groups = {} }: RegExpExecArray): Member {
  const { indent, item, name = '', value = '' } = groups
  return {
    depth: indent?.length ?? -1,
    beginsItem: item !== undefined,
    name,
    value,
    start: index + line.indexOf(value, (indent?.length ?? 0) + name.length + 1),
  }
}

/** Whether a sibling of this member says that they belong to a `Secret`. */
function isOfSecret(members: readonly Member[], i: number): boolean {
  const { depth, beginsItem } = members[i] as Member
  const isNextItem = (each: Member): boolean =>
    each.depth < depth || (each.depth === depth && each.beginsItem)
  const above = beginsItem ? [] : members.slice(Math.max(0, i - mostBetween), i).reverse()
  const below = members.slice(i + 1, i + 1 + mostBetween)
  const beside = [...upTo(above, isNextItem), ...upTo(below, isNextItem).filter((each) => !isNextItem(each))]
  return beside.some((each) => each.depth === depth && each.name === 'kind' && each.value === 'Secret')
}

/** The members up to the first that satisfies a condition, and that one. */
function upTo(members: readonly Member[], isLast: (each: Member) => boolean): readonly Member[] {
  const last = members.findIndex(isLast)
  return last === -1 ? members : members.slice(0, last + 1)
}

function secretOf({ value, start }: Member): ColumnSecret[] {
  const quote = /^(["']).*\1$/.test(value) ? 1 : 0
  const secret = value.slice(quote, value.length - quote)
  if (!isPassword(secret, { quoted: true, environment: false })) return []
  return [{ kind: 'secret', start: start + quote, end: start + value.length - quote }]
}
