import { isPassword, isShortPassword, isToken, isUnlikeName } from './assignments.ts'
import type { Detector } from './detector.ts'

/** The next argument is a literal. */
const literal = '\\s{0,40}b?(?=["\'`])'
const argument = '["\'`][^"\'`\\n]{1,256}["\'`],\\s{0,40}'
/** An argument that holds the name of an account. */
const accountArgument = '[\\w.]{0,40}(?:user|email|login|account|sender|username)(?:[_-]?name)?,\\s{0,40}'
const addressArgument = '[\\w.]{0,40}(?:url|uri|dsn|address|host),\\s{0,40}'

/** Takes an account and its password. */
const signsIn =
  '(?<![A-Za-z])auth[ \\t]{0,2}=[ \\t]{0,2}|http(?:basic|digest)auth|basic_?auth(?:entication)?|networkcredential|passwordauthentication|(?:usernamepassword|simple)credentials?|(?:\\.|->)(?:auth|login|sign_?in)'
/** Takes an address or a name, an account and its password. */
const connects =
  'getconnection|\\bpdo|mysqli(?:_(?:real_)?connect)?|(?:mysqldb|pymysql)\\.connect|create_(?:super)?user'
/** Takes a password first. */
const takesPassword =
  '(?:\\.|=[ \\t]{0,2}|(?:set|with|hash|make|check|verify|change|encrypt)_?)(?:pass(?:word|wd|phrase|code)|pwd)|password_(?:hash|verify)|bcrypt\\.(?:hash|compare)(?:sync|pw)?|\\bhashpw'
/** Takes a key after what it signs or encrypts. */
const takesKey = 'jwt\\.(?:sign|verify|encode|decode)|create(?:hmac|cipheriv|decipheriv)|aes\\.(?:en|de)crypt'
/** Takes a name and its value, a name and its default value, or a field and what to type there. */
const takesNamed =
  '(?:get|set|put)_?env|(?:\\.|->)(?:get|fetch|set|put|setdefault|get_?or_?default|fill|type|setvalue|(?:set_?)?(?:request_?)?header|append|add|add_?header)'
/** Types into the field that it is a method of. */
const typesInto = '(?:fill|type|send_?keys|press_?sequentially|set_?value|type_?text)'
const fallsBack = '(?:["\'`\\])]{0,4}[ \\t]{0,4}(?:\\|\\||\\?\\?|\\?:)|["\']\\)[ \\t]or)[ \\t]{0,4}(?=["\'`])'

const passwordNames = '(?:pass(?:word|wd|phrase)|pwd)'
const tokenNames = '(?:secret|token|authorization|api[_-]?key|(?:access|secret|private)[_-]?key)'
const passwordGate = ['pass', 'pwd']
const tokenGate = ['secret', 'token', 'key', 'authorization']

/** The name of a secret as the first argument, or within it, as when a field is found by its label. */
const named = (names: string): RegExp =>
  new RegExp(
    `(?:${takesNamed})\\(\\s{0,40}(?:[\\w.]{1,60}\\()?["'\`/](?!/)[^\\n(),]{0,80}?${names}["'\`\\])/]{1,6}(?:i\\))?,${literal}`,
    'gi',
  )
const otherwise = (names: string): RegExp =>
  new RegExp(`${names}(?:[ \\t]{0,4}[:=][ \\t]{0,4}[\\w$.?!["'\\]()]{1,80}?)?${fallsBack}`, 'gi')

/** Calls that pass a secret, or a fallback for one that is not configured. */
// biome-ignore format: a table, one way a row
export const codeCalls: readonly Detector[] = [
  { kind: 'password', gate: ['auth', 'login', 'sign_in', 'signin', 'credential'], pattern: new RegExp(`(?:${signsIn})\\(\\s{0,40}(?:${argument}|${accountArgument})(?=["'\`])`, 'gi'), follows: isWord },
  { kind: 'password', gate: ['getconnection', '.connect', 'pdo', 'mysqli', '_connect', '_user', '_superuser'], pattern: new RegExp(`(?:${connects})\\(\\s{0,40}(?:${argument}|${addressArgument})(?:${argument}|${accountArgument})(?=["'\`])`, 'gi'), follows: isWord },
  { kind: 'password', gate: passwordGate.concat('bcrypt', 'hashpw'), pattern: new RegExp(`(?:${takesPassword})\\(${literal}`, 'gi'), follows: isShortPassword },
  { kind: 'secret', gate: ['jwt.', 'createhmac', 'cipheriv', 'aes.'], pattern: new RegExp(`(?:${takesKey})\\([^\\n()]{1,120}?,${literal}`, 'gi'), follows: isUnlikeName },
  { kind: 'secret', gate: ['hmac.new', 'cookieparser'], pattern: new RegExp(`(?:hmac\\.new|cookieparser)\\(${literal}`, 'gi'), follows: isUnlikeName },
  { kind: 'password', gate: passwordGate, pattern: named(passwordNames), follows: isShortPassword },
  { kind: 'secret', gate: tokenGate, pattern: named(tokenNames), follows: isToken },
  { kind: 'password', gate: passwordGate, pattern: new RegExp(`${passwordNames}["'\`\\])/]{1,6}(?:i\\))?(?:\\.(?:first|nth)\\(\\d?\\))?\\.${typesInto}\\(${literal}`, 'gi'), follows: isWord },
  { kind: 'password', gate: passwordGate, pattern: otherwise(passwordNames), follows: isShortPassword },
  { kind: 'secret', gate: tokenGate, pattern: otherwise(tokenNames), follows: isToken },
  { kind: 'password', gate: passwordGate, pattern: new RegExp(`${passwordNames}[^\\n"'\`]{0,8}["'][)}]?\\s{1,40}(?:\\{\\s{0,40})?(?:\\w{1,20}\\.)?send(?:line)?[ (][ \\t]{0,2}(?:-- )?(?=["'])`, 'gi'), follows: isWord },
]

function isWord(value: string): boolean {
  return !/\s/.test(value) && isPassword(value, { quoted: true, environment: false })
}
