/** Shannon entropy of the characters, in bits per character. */
function shannonEntropy(text: string): number {
  const counts = new Map<string, number>()
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1)
  let bits = 0
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length)
  return bits
}

/** The start of a full path: a folder that machines have at their root. */
const absolutePath =
  /^\/(?:Users|Volumes|app|builds?|data|dev|etc|home|media|mnt|opt|private|proc|root|run|srv|tmp|usr|var|work(?:spaces?)?)\//

/**
 * Whether a run of characters looks like a generated key. Hex digests, UUIDs, paths, identifiers and anything longer
 * than a key (an embedded image, say) do not. In a full path, one part may be a key.
 */
export function looksGenerated(run: string): boolean {
  if (run.length < 20 || run.length > 256) return false
  if (absolutePath.test(run)) return run.split('/').some(looksGenerated)
  if (!/[a-z]/.test(run) || !/[A-Z]/.test(run) || !/\d/.test(run)) return false
  if (/^[0-9a-f-]+$/i.test(run) || /^sha\d{1,3}-/.test(run) || looksLikeName(run)) return false
  return shannonEntropy(run) > 4 && partLength(run) < 2.8
}

/**
 * Whether a run of sixteen or more letters contains no words: about half of them are scattered capitals. Names have few
 * capitals, and those of abbreviations stand together.
 */
export function areRandomLetters(run: string): boolean {
  if (!/^[A-Za-z]{16,256}$/.test(run)) return false
  const capitals = run.replace(/[a-z]+/g, '').length
  const changes = run.match(/[a-z](?=[A-Z])|[A-Z](?=[a-z])/g)?.length ?? 0
  return Math.abs(capitals / run.length - 0.5) <= 0.2 && changes >= 0.3 * (run.length - 1)
}

const namePunctuation = /[-_./:@+=\\]+/

/** Whether a text reads like a name or a path: words joined by punctuation or by capitals. */
export function looksLikeName(text: string): boolean {
  if (areRandomLetters(text)) return false
  return text.split(namePunctuation).every((part) => part === '' || isWord(part))
}

/** Words are short: a run of twenty letters or digits is not a name. */
export const isLongOrUnlikeName = (text: string): boolean =>
  !looksLikeName(text) || /[A-Za-z0-9]{20}/.test(text)

/** Into how many parts punctuation divides a name; a path or a slug has two or more. */
export function countNameParts(text: string): number {
  return text.split(namePunctuation).filter((part) => part !== '').length
}

/** Whether a text is an identifier that a service gave to a message or a call: random, but public. */
export function isPublicId(text: string): boolean {
  return (
    /^(?:toolu|msg|req|call|resp|chatcmpl|run|thread|asst|item|evt|file|batch|fc|rs)[_-]/.test(text) ||
    isSortableId(text)
  )
}

/** A time in hexadecimal and random letters: the session ids of some agents. */
const isSortableId = (text: string): boolean => /^ses_[0-9a-f]{12}[0-9A-Za-z]{14}$/.test(text)

function isWord(part: string): boolean {
  if (/^\d{1,10}$/.test(part)) return true
  // Web3Credentials, decodeBase64Text
  if (/^[A-Za-z][a-z]+(?:\d{0,2}[A-Z][a-z]{2,})+$/.test(part)) return true
  if (!/^\d{0,3}[A-Za-z]+\d{0,4}$/.test(part)) return false
  const humps = part.match(/[A-Z]?[a-z]+|[A-Z]+/g) ?? []
  return part.length <= 4 || part.length / humps.length >= 2.5
}

/** Average length of the words, runs of capitals and numbers in a run: about 1.8 when it is random. */
function partLength(run: string): number {
  return run.length / (run.match(/[A-Z]?[a-z]+|[A-Z]+|\d+/g)?.length ?? 1)
}
