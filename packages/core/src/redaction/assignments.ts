import { areRandomLetters, countNameParts, looksLikeName } from './entropy.ts'
import { withoutPlaceholders } from './placeholder.ts'

/** Interpolation: `${name}`, `#{name}`. */
const interpolated = /[$#]\{[^}]{0,256}\}/g

/** The literal part of a value. */
const literalOf = (value: string): string => withoutPlaceholders(value).replace(interpolated, '').trim()

/** A value found after a name that promises a secret. */
export interface Assigned {
  start: number
  end: number
  quoted: boolean
  /** End of the run without spaces that contains a value without quotes. */
  run?: number
}

/** Bounded: a longer run overflows the pattern's stack. */
const bareRun = /[^\s"'`,;&<>{}|\\[\]「」“”«»]{1,65536}/y
/** An `&` that no other parameter, entity or command follows. */
const inRun = /&(?=[\p{L}\p{N}!#$%*+./:=?@^_~-])(?![\w.%-]{0,64}(?:\[\w{0,64}\])?=|#?\w{1,31};)/uy
const closingQuotes: Record<string, string> = {
  '"': '"',
  "'": "'",
  '`': '`',
  '“': '”',
  '„': '“',
  '«': '»',
  '「': '」',
  '‘': '’',
}

/**
 * The prefix of a literal in code, up to its last opening quote, `b"…"`, `@"…"`, `"""…"""`, or Markdown before a quoted
 * one.
 */
const beforeQuote = /(?:[bruf]{1,2}|[@$]{1,2}|L|\*{1,3})?(?:""(?="[^"])|''(?='[^']))?(?=["'`])/iy

function literalStart(text: string, at: number): number {
  beforeQuote.lastIndex = at
  return at + (beforeQuote.exec(text)?.[0].length ?? 0)
}

/** Length of the Markdown emphasis at either end of a value without quotes. */
function emphasisOf(text: string, start: number, end: number): number {
  const marks = /^(?:\*{1,3}|__)(?=[^\s*_])/.exec(text.slice(start, start + 4))?.[0] ?? ''
  return end - start > 2 * marks.length && text.endsWith(marks, end) ? marks.length : 0
}

function bareEnd(text: string, start: number): number {
  for (let at = start; ; at++) {
    bareRun.lastIndex = at
    const end = at + (bareRun.exec(text)?.[0].length ?? 0)
    inRun.lastIndex = end
    if (end === at || !inRun.test(text)) return end
    at = end
  }
}

/**
 * Returns a reader of the value that starts at a position of a text: up to its closing quote, or a run without spaces.
 * One run may hold many names and so be read from many positions. Its end is therefore cached: hostile texts would
 * take thousands of times as long otherwise.
 */
export function assignedReader(text: string): (at: number) => Assigned | undefined {
  let run = { start: 0, end: 0 }
  const endOfRun = (start: number): number => {
    if (start < run.start || start >= run.end) run = { start, end: bareEnd(text, start) }
    return run.end
  }
  return (at) => {
    let start = literalStart(text, at)
    const opening = start
    while (text[start] === '\\') start++
    const closing = closingQuotes[text[start] ?? '']
    if (closing !== undefined) {
      const end = endOfQuoted(text, start + 1, closing, start - opening)
      if (end !== undefined) return { start: start + 1, end, quoted: true }
      start++
    }
    const end = endOfRun(start)
    if (end === start) return undefined
    const ending = /[).:]{1,2}$/.exec(text.slice(Math.max(start, end - 2), end))?.[0].length ?? 0
    const marks = emphasisOf(text, start, end - ending)
    return { start: start + marks, end: end - ending - marks, quoted: false, run: run.end }
  }
}

/**
 * In JSON inside JSON the closing quote has as many backslashes before it as the opening one; a quote with more
 * belongs to the value.
 */
function endOfQuoted(text: string, from: number, closing: string, escapes: number): number | undefined {
  let slashes = 0
  for (let i = from; i < text.length && i < from + 512 && text[i] !== '\n'; i++) {
    if (text[i] === closing && (slashes < escapes || slashes % (2 * (escapes + 1)) === escapes)) {
      return i - Math.min(slashes, escapes)
    }
    slashes = text[i] === '\\' ? slashes + 1 : 0
  }
  return undefined
}

/** Signs that a value is a literal. */
export interface Evidence {
  quoted: boolean
  /** `NAME=value`, `A_NAME: value`, `--name=value`: how environments and commands are given it. */
  environment: boolean
}

/** Whether a value under a name like `password` is a password, rather than a label, a type or a reference. */
export function isPassword(value: string, { quoted, environment }: Evidence): boolean {
  const rest = literalOf(value)
  if (rest.length < 6 || isStandIn(rest) || isLabel(rest)) return false
  if (quoted) return true
  if (isReference(rest)) return false
  if (environment || areRandomLetters(rest)) return true
  if (!/\p{L}/u.test(rest) || !/[\d!@#$%^&*+~?=]/.test(rest)) return false
  return (
    !(looksLikeName(rest) && countNameParts(rest) > 1) &&
    !/^(?:sha\d|md5|bcrypt|argon2|pbkdf2|base64|utf-?8|oauth)/i.test(rest)
  )
}

/** `isPassword` for a value that could also be a name, an outcome or a message to a person. */
export function isShortPassword(value: string): boolean {
  return !/\s/.test(value) && isPassword(value, { quoted: false, environment: false })
}

/** `isShortPassword` for a value that could also be a word, a version or a place in code. */
export function isUnlikeName(value: string): boolean {
  return !looksLikeName(value) && isShortPassword(value)
}

/** Whether a value under a name like `api_key` or `token` is a key or token, rather than a label or a reference. */
export function isToken(value: string, { quoted, environment }: Evidence): boolean {
  const rest = literalOf(value)
  const literal = quoted || environment
  if (rest.length < (literal ? 8 : 16) || !/^\S*[A-Za-z]\S*$/.test(rest)) return false
  if (isStandIn(rest) || isLabel(rest) || (!quoted && isReference(rest))) return false
  if (looksLikeName(rest) && (countNameParts(rest) > 1 || !literal)) return false
  return /\d/.test(rest) || rest.length >= 16
}

/** Values in place of a secret. */
const standIns = [
  // ${TOKEN}, $TOKEN, %TOKEN%, <your key>, {{ token }}, ********, xxxxx
  /^(?:\${1,2}[{(].*|#\{.*|\$[A-Za-z_]+|\$[A-Z_][A-Z0-9_]*|%[A-Za-z_][\w.]*%|<[^>]*>|\{\{.*|\*+|[xX]+|\.+|-+)$/,
  // [FILTERED], [parameters('key')], env(TOKEN), DB_PASSWORD
  /^(?:\[[A-Za-z -]+(?:\(.*\))?\]|env\(\w+\)|[A-Z]+(?:_[A-Z]+)+)$/,
  /^(?:your|insert|enter|example|replace|change[-_ ]?me|placeholder)/i,
  /^(?:string|number|boolean|null|undefined|true|false|required|optional|redacted|hidden)\b/i,
  /^(?:object|function|symbol|unknown)$/,
  /^!(?:vault|secret|env|ref|sub|getatt)$/i,
  // The name of a resource at Amazon.
  /^arn:[a-z-]+:/,
  // {name}{suffix}, ^[a-z]+$
  /^(?:(?:\{[^{}\s]{1,80}\}){1,20}|\^(?=.*[\\[(]).*\$)$/,
  // An address, with or without its scheme.
  /^(?:[a-z][a-z0-9+.-]{1,20}:)?\/\//i,
  // The version of a package, or where it comes from.
  /^(?:[~^<>=v ]{0,3}\d+(?:\.(?:\d+|x|\*)){1,3}(?:-(?:alpha|beta|rc|next|canary|dev|pre|preview|nightly)[\d.-]{0,16})?|(?:workspace|npm|github|file|link|catalog):\S*)$/,
]

const isStandIn = (value: string): boolean =>
  standIns.some((pattern) => pattern.test(value)) ||
  (/^(?:~|\.{1,2})?\//.test(value) && looksLikeName(value.replace('~', '')))

/** Code that names a value, rather than the value. */
const references = [
  // readSecret(, Hash::make(, std::env::var(, @session.token(
  /^@{0,2}[A-Za-z_$][\w$.:]*!?\(/,
  // process.env.TOKEN, (user?.token ??, data!.token, static::$password, keys.#{name}
  /^\(?@{0,2}[A-Za-z_$]+(?:(?:[?!]?\.|::)\$?[A-Za-z_$#][\w$]*)+\??\??$/,
  // v1beta1.SecretReference
  /^[a-z]\w*\.[A-Z][A-Za-z]+$/,
  // ((Credentials) and (Get-Secret, *password and &user.password, :symbol
  /^(?:\(+|[*&]|:)[A-Za-z_$.-]+(?:\(|$)/,
  // $this->, whose last sign is not part of a run without brackets
  /^\$\w+-$/,
  // password2, is_given?
  /^[a-z_]*(?:password|token|secret)\d$|^[a-z_]+\?$/i,
  // the option that comes next: --name=
  /^--[a-z-]+(?:=|$)/,
]

const isReference = (value: string): boolean => references.some((pattern) => pattern.test(value))

/** Words about a secret: `Enter your password`, `access_token`, `#pre-shared-keys`, `too short`. */
function isLabel(value: string): boolean {
  return (
    (/^#?[\p{L}\s.:_-]+$/u.test(value) &&
      /pass(?:w|phrase|code)|pwd|token|secret|api.?key|(?<!\p{L})keys?(?!\p{L})|credential|authori|senha|contrase|парол|токен/iu.test(
        value,
      )) ||
    /^(?:too|not|no|is|are|was|must|should|may|in|wrong|missing|incorrect|expired|invalid|never|at least)\s/i.test(
      value,
    )
  )
}
