import { type Evidence, isPassword, isShortPassword, isToken, isUnlikeName } from './assignments.ts'
import { codeCalls } from './code-calls.ts'
import { commandOptions, toPassword } from './command-options.ts'
import type { Detector } from './detector.ts'
import { isLongOrUnlikeName, isPublicId, looksGenerated, looksLikeName } from './entropy.ts'
import { providerKeys } from './provider-keys.ts'

const passwordNames = 'pass(?:word|wd|phrase|code)|pwd'
/** Words before `pass` that make it a password, as in `smtp_pass`; render and test passes have others. */
const accounts =
  'db|database|sql|maria|pg|postgres|mongo|redis|rabbit(?:mq)?|amqp|smtp|imap|pop3?|mail|ftp|ssh|sudo|become|ldap|vpn|wi-?fi|proxy|http|auth|admin|root|user|default|login|account|(?:key|trust)store|registry'
const tokenNames =
  '(?:api|access|secret|private|encryption|signing|master|session|account|service|shared|storage|license|app|auth)[ _-]?key' +
  '|token|secret(?:[_-]?key)?(?:[_-]?base)?|authorization|credentials?|auth[_-]?code'
/** One of these is in each of the names. */
const tokenGate = ['key', 'token', 'secret', 'auth', 'credential']
const foreignPasswords =
  'пароль|senha|contraseña|passwort|kennwort|mot de passe|wachtwoord|hasło|密码|密碼|口令|パスワード|비밀번호|암호'
const foreignTokens = 'токен|令牌|密钥|トークン|토큰'
/** Also words for any key, which do not point to a secret as the name of a member. */
const foreignNames = `${foreignPasswords}|${foreignTokens}|ключ|clave`
const suffix = '(?:s|[_-]?(?:value|prod|production|dev|staging|test|live|base64|b64|\\d{1,3}))?'
/** What may follow a name: its quote, also in JSON within JSON, a bracket, and the end of bold type in Markdown. */
const nameEnd = '[\\\\"\'`*_\\]]{0,6}'
/** The end of bold type after a colon, `**name:** value`. */
const boldEnd = '\\*{0,3}'
/**
 * From the name to its value: `=`, `:`, `=>`, `→`, `":`, `:**`, `"] =`, `[32] =`, `: str =`, `<-` of R, and full-width
 * twins. A literal may be on the next line. Many rows contain this pattern, and each part of it takes time to compile.
 */
const assigns =
  `${nameEnd}(?:\\[\\d{0,6}\\])?[ \\t]{0,8}(?::[ \\t]{0,2}[A-Za-z][\\w.]{0,20}[ \\t]{0,2}=(?=[ \\t]{0,8}[^\\s=])|:=|=>|->(?=[ \\t])|<-(?=[ \\t]{0,4}["'])|={1,3}|[:：＝→⇒])` +
  `${boldEnd}[ \\t\\u00a0]{0,40}(?:!(?:unsafe|!str)[ \\t]{1,4}|&[\\w-]{1,40}[ \\t]{1,4}|\\r?\\n[ \\t]{1,40}(?=["']))?`
/** From the name to its value in HTML, where either is emphasised, or each has its own cell. */
const toMarked =
  '[ \\t]{0,2}:?</\\w{1,8}>[ \\t]{0,2}:?\\s{0,40}(?:<[a-z][^<>\\n]{0,80}>){0,2}[ \\t]{0,2}|:[ \\t]{0,2}<(?:b|strong|em|i|code|kbd)>'
const tags = [
  '</b>',
  '</strong>',
  '</em>',
  '</i>',
  '</code>',
  '</kbd>',
  '</td>',
  '</th>',
  '</dt>',
  '</label>',
  '</span>',
]
/** What code wraps around a literal to make a value. */
const toWrapped =
  '[ \\t]{0,2}(?::[ \\t]{0,2}\\w{1,20}[ \\t]{0,2})?=[ \\t]{0,2}(?:new[ \\t])?(?:Secret(?:Str|Bytes|String)?(?:::(?:new|from))?|String(?:::from)?|bytes|Some)\\((?=b?["\'])'
const wrappers = ['str(', 'string(', 'bytes(', '::from(', '::new(', 'secret(', 'some(']
/**
 * From the name to its value where both are members, `name: PASSWORD`, `value: …`, and the same in JSON and XML; or
 * where the value is a member of the named object, `"password": {"value": …}`; or its default in Terraform.
 */
const toValue =
  '["\'`]?[ \\t]{0,4}(?:,|:[ \\t]{0,4}\\{)?[ \\t]{0,4}(?:\\r?\\n[ \\t]{0,40})?["\'`]?\\b[vV]alue["\'`]?[ \\t]{0,4}[:=][ \\t]{0,4}|"[ \\t]{1,4}\\{[^{}]{0,400}?\\bdefault[ \\t]{0,16}=[ \\t]{0,4}'
/** From the name to the content of the element with that name, as in Android resources and Apple property lists. */
const toContent =
  '(?<=<(?:string|entry|property|param|setting|value|prop)[ \\t][^<>\\n]{0,80}(?:name|key)="[^"<>\\n]{1,80})"[^<>\\n]{0,80}>|(?<=<key>[^<>\\n]{1,80})</key>\\s{0,40}<string>'
/** From the name to a block of YAML, or to the text of a here-document. */
const toBlock =
  '["\'`]?[ \\t]{0,4}(?::[ \\t]{0,4}[|>][+-]?[ \\t]{0,4}\\r?\\n[ \\t]{1,40}|[:=][ \\t]{0,4}<<[-~]?["\']?\\w{1,32}["\']?\\r?\\n[ \\t]{0,40})'
/** The purpose of a secret, between its name and its value. */
const fewWords = '[^"\'`=:.;\\n]{1,40}'
/** After a number that is not part of a version, a quantity or a time. */
const endOfNumber = '(?![\\w%-]|[.,:/]\\d|[ \\t](?:ms|s|seconds|bytes|characters|times|iterations|rounds)\\b)'
/** Verbs for what happens to a secret, before its value. */
const changed = '(?:set|chang(?:ed?|ing)|reset(?:ting)?|updat(?:ed?|ing)|rotat(?:ed?|ing))'
const fromOld = '(?:from[ \\t]\\S{1,128}[ \\t])?'
/** From an option of a command to its value; in a list of JSON or YAML, the next item. */
const flagEnd = '(?:[ \\t]{1,8}|["\'],\\s{0,40}(?=["\'])|["\']?\\r?\\n[ \\t]{0,40}-[ \\t]{1,4}(?=["\'\\w]))'

/** A command that reads a secret from standard input, up to the option that says so. */
const readsSecret =
  '(?:--(?:password-)?stdin(?![\\w-])|--with-token|sudo[ \\t][^\\n|;&<]{0,40}?-[A-Za-z]{0,4}S(?![\\w-])|(?<![\\w-])(?:chpasswd|smbpasswd|passwd|cryptsetup)(?![\\w-])|secret(?::bulk)?[ \\t](?:put|set|create)|env[ \\t]add|secrets[ \\t](?:create|versions[ \\t]add))'

/**
 * Schemes of addresses whose path holds no account names: there, a slash or an at sign before the last at sign belongs
 * to the password.
 */
const accountSchemes =
  'postgres(?:ql)?|cockroachdb|mysql|mariadb|mssql|sqlserver|oracle|mongodb(?:\\+srv)?|rediss?|valkey|amqps?|mqtts?|nats|kafka|clickhouse|neo4j|bolt|smtps?|imaps?|pop3s?|ldaps?|s?ftps?|socks[45]h?'
/** Not a stand-in, and not a port with what may follow it. */
const isUrlPassword = (secret: string): boolean =>
  !/^(?:x-oauth-basic$|\$[{(]|\$[A-Za-z_]+$|%(?:[A-Z_]+%|[a-z])$|\{\{|\{[\w.]+\}$|\*+$|\d{1,5}[/?#,])/.test(
    secret,
  )
/** The name of a web server is followed by a port, or by what a document calls it: `http://web:PORT/@ada`. */
const isWebPassword = (secret: string): boolean => isUrlPassword(secret) && !/^[^/]*port\W/i.test(secret)
/** An account name may be followed by the number of a group; other words, by an address or a path. */
const isAccountPassword = (secret: string): boolean =>
  isUrlPassword(secret) && !/^(?:\/|<|(?:\d+|\$[A-Za-z_]+)\W*$)/.test(secret)
/** As Google issues it for an app, and displays it. */
const appPassword = '(?:[a-z]{4} ){3}[a-z]{4}'
const recoveryName = '(?:recovery|backup|scratch)[ _-]?code'
const recoveryNames = `${recoveryName}s`
/** A code that signs in once when the second factor is lost, usually one of ten. */
const recoveryCode =
  '(?=[a-z-]{0,12}\\d)(?:[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,3}|[a-z0-9]{8,12}|\\d{4} \\d{4})(?![a-z0-9])'
/** The words that a wallet is restored from, of three to eight letters each (BIP 39). */
const mnemonic = '(?:[a-z]{3,8}[ ,]{1,2}){11,23}[a-z]{3,8}'
const mnemonicNames = '(?:mnemonic|(?:seed|recovery|backup)[ _-]?(?:phrase|words))s?'
/** Words before an account and its password, which are separated by a colon or a slash. */
const account = 'cred(?:ential)?s?|basic[ _-]?auth|(?:log|sign)[ -]?in|user(?:name)?[:/]pass(?:word)?'
const accountGate = [
  'cred',
  'auth',
  'login',
  'log in',
  'log-in',
  'sign in',
  'signin',
  'sign-in',
  'user:pass',
  'user/pass',
  'name:pass',
  'name/pass',
]
const ofAccount = '["\'`]?(?!arn:)(?=[\\w.+-]{0,64}[A-Za-z])[\\w.@+-]{1,128}(?::| / )'
const unlikeName = (secret: string): boolean => !looksLikeName(secret)
const isKey = (secret: string): boolean => looksGenerated(secret) && !isPublicId(secret)

/** `sid=…; theme=dark`, as a browser sends cookies. */
const cookiePair = '[\\w.!#$%&*+^|~-]{1,128}=[^\\s;,"\'`\\\\]{0,4096}'
const cookies = `${cookiePair}(?:; ?${cookiePair}){0,100}`
/** Cookies that hold a session, whatever the site. */
const sessionCookies =
  'PHPSESSID|JSESSIONID|ASPSESSIONID[A-Z]{8}|ASP\\.NET_SessionId|connect\\.sid|laravel_session|session_?cookie'
const isSession = (value: string): boolean => value.length >= 16 && isLongOrUnlikeName(value)
const holdSession = (pairs: string): boolean =>
  pairs.split(';').some((pair) => isSession(pair.slice(pair.indexOf('=') + 1)))

/** Names whose values are random but public. */
const publicWord =
  /(?:^|[^A-Za-z])(?:id|ids|uuid|guid|hash|digest|checksum|etag|cursor|sha-?\d{0,3}|h1|pub(?:lic)?[ _-]?keys?\d{0,4}|site[ _-]?key|ray|integrity|ref|nonce|fingerprint|list)["'`\]\s\\]*$/i
const publicEnding = /[a-z](?:Id|Ids|Hash|Digest|Ref|PublicKey)["'`\]\s\\]*$/
export const isPublicName = (name: string): boolean => publicWord.test(name) || publicEnding.test(name)

/** Tokens that are not credentials, such as page tokens and tokens of a language model's vocabulary. */
const harmlessToken =
  /(?:next|page|continuation|sync|cancellation|public[_-]?key|pad|eos|bos|unk|mask|sep|cls|special|stop)[_-]?$/i

/** Keys that are public, or that are only used to find something. */
const harmlessKey =
  /(?:public|primary|foreign|cache|partition|sort|hash|lookup|idempotency|deploy|host|storage|object)[ \t]$/i

/** Secrets on command lines, also when the line is written as a list of arguments. */
// biome-ignore format: a table, one way a row
export const ofCommands: readonly Detector[] = [
  { kind: 'basic-auth', gate: ['curl', 'wget', '--user', '--auth'], pattern: /(?<![\w-])(?:-u|--(?:proxy-)?user|--auth)[ =]["']?[^\s:"'[]{1,128}:(?<secret>[^\s"'[]{3,256})/gd, accept: isAccountPassword },
  { kind: 'basic-auth', gate: ['curl'], pattern: /curl(?:[^\n|;&]|(?<=[\\`]\r?)\n){0,200}?[ \t]-[A-Za-z]{0,6}[ux][ =]?["']?[^\s:"'[@/]{1,128}:(?<secret>[^\s"'[]{3,256})/gd, accept: isAccountPassword },
  { kind: 'basic-auth', gate: ['curl'], pattern: /curl(?:[^\n|;&]|(?<=[\\`]\r?)\n){0,200}?[ \t]-[A-Za-z]{0,6}u[ =]?["']?(?<secret>[\w.-]{16,256}):(?=["'\s]|$)/gd, accept: unlikeName },
  { kind: 'cookie', gate: ['curl'], pattern: new RegExp(`[ \\t](?:-b|--cookie)[ \\t=]{1,4}["']?(?<secret>${cookies})`, 'gd'), accept: holdSession },
  ...commandOptions.map((each) => ({ kind: 'password', gate: each.commands, pattern: toPassword(each), follows: isPassword })),
  { kind: 'password', gate: ['--from-literal'], pattern: /--from-literal(?<=create secret[^|;&]{0,512})[ \t=]{1,4}["']?[^\s"'=]{1,128}=/g, follows: isPassword },
]

/** Where several rows find the same secret, the earliest one names its kind. */
// biome-ignore format: a table, one detector a row
export const detectors: readonly Detector[] = [
  ...providerKeys,
  { kind: 'url-credentials', gate: ['://'], pattern: /:\/\/[^\s:/"'`<>[\]]{0,128}:(?<secret>[^\s/"'`<>]{1,256})@(?=[\w.[-])/gd, accept: isUrlPassword },
  { kind: 'url-credentials', gate: ['://'], pattern: new RegExp(`(?:${accountSchemes}):\\/\\/[^\\s:?#"'\`<>[\\]]{0,128}:(?<secret>[^\\s?#"'\`<>]{1,256})@(?=[\\w.[-])`, 'gid'), accept: isUrlPassword },
  { kind: 'url-credentials', gate: ['://'], pattern: /https?:\/\/(?!localhost:)[^\s:/?#@."'`<>[\]]{1,128}:(?<secret>[^\s?#"'`<>]{1,256})@(?=[\w.[-])/gid, accept: isWebPassword },
  { kind: 'url-credentials', gate: ['x-oauth-basic@'], pattern: /:\/\/(?<secret>[^\s:/@"'`<>[\]]{1,256}):x-oauth-basic@/gd },
  { kind: 'url-credentials', gate: ['://'], pattern: /:\/\/(?<secret>[\w-]{16,256})@(?=[\w.[-])/gd, accept: unlikeName },
  { kind: 'url-credentials', gate: ['@tcp(', '@unix(', '@udp('], pattern: /[\w.-]{1,64}:(?<secret>[^\s"'`@]{1,256})@(?:tcp|unix|udp)\(/gd, accept: isUrlPassword },
  { kind: 'url-credentials', gate: [':thin:'], pattern: /:thin:[^\s/@"']{1,64}\/(?<secret>[^\s@"']{1,128})@/gd, accept: isUrlPassword },
  { kind: 'password', gate: ['pwd={', 'password={'], pattern: /;[ ]?(?:pwd|password)=\{(?<secret>[^{}\n]{6,128})\}/gid, accept: unlikeName },
  { kind: 'password', gate: ['neo4j_auth'], pattern: new RegExp(`neo4j_auth(?:${assigns})["']?\\w{1,64}/`, 'gi'), follows: isGiven },
  { kind: 'bearer', gate: ['bearer'], pattern: /(?<![A-Za-z])bearer[ \t]{1,4}(?<secret>[A-Za-z0-9._~+/=-]{16,65536})/gid, accept: isLongOrUnlikeName },
  { kind: 'secret', gate: ['key', 'token', 'secret'], pattern: /(?:\bENV|\bsetx|\bsetenv|\bset[ \t]-[gxUL]{1,4})[ \t]{1,4}\w{0,40}(?:key|token|secret)[ \t]{1,4}/gi, follows: isToken },
  { kind: 'bearer', gate: ['authorization'], pattern: new RegExp(`authorization(?:${assigns})\\\\{0,3}["'\`]?bearer[ \\t]{1,4}(?<secret>[A-Za-z0-9._~+/=-]{6,65536})`, 'gid'), accept: unlikeName },
  { kind: 'basic-auth', gate: ['basic'], pattern: /(?<![A-Za-z])basic[ \t]{1,4}(?<secret>[A-Za-z0-9+/_-]{10,65536}={0,2})/gid, accept: isBasicCredential },
  { kind: 'basic-auth', gate: ['auth'], pattern: new RegExp(`(?<![A-Za-z])auth(?:${assigns})\\\\{0,3}["'\`]?(?<secret>[A-Za-z0-9+/_-]{8,65536}={0,2})`, 'gid'), accept: isBasicCredential },
  { kind: 'secret', gate: ['authorization'], pattern: /authorization\\{0,3}["']?[ \t]{0,2}[:=][ \t]{0,2}\\{0,3}["']?[a-z][\w-]{1,20}[ \t]{1,4}(?<secret>[A-Za-z0-9._~+/=:-]{16,65536})/gid, accept: isLongOrUnlikeName },
  { kind: 'cookie', gate: ['set-cookie'], pattern: new RegExp(`set-cookie(?:${assigns})\\[?\\s{0,40}\\\\{0,3}["'\`]?[\\w.-]{1,128}=(?<secret>[^\\s;,"'\`\\\\]{1,4096})`, 'gid'), accept: isSession },
  { kind: 'cookie', gate: ['cookie'], pattern: new RegExp(`(?<![\\w-])cookie(?:${assigns})\\\\{0,3}["'\`]?(?<secret>${cookies})`, 'gid'), accept: holdSession },
  { kind: 'cookie', gate: ['sess', 'connect.sid'], pattern: new RegExp(`(?:${sessionCookies})(?:${assigns})\\\\{0,3}["'\`]?(?<secret>[\\w.%:~+/-]{16,512})`, 'gid'), accept: isSession },
  { kind: 'cookie', gate: ['\tTRUE\t', '\tFALSE\t'], pattern: /^\S{1,256}\t(?:TRUE|FALSE)\t\S{1,256}\t(?:TRUE|FALSE)\t\d{1,16}\t\S{1,256}\t(?<secret>\S{1,4096})/gmd, accept: isSession },
  ...ofCommands,
  { kind: 'private-key', gate: ['accounts'], pattern: /\baccounts["']?[ \t]{0,4}:[ \t]{0,4}\[\s{0,40}["'](?<secret>0x[0-9a-f]{64})(?![0-9a-f])/gid },
  { kind: 'password', gate: ['echo', 'printf'], pattern: new RegExp(`(?:echo|printf)[ \\t]{1,4}(?:-[neE]{1,3}[ \\t]{1,4})?(?:["']?%s(?:\\\\n)?["']?[ \\t]{1,4})?["']?(?<secret>[^\\s"'|][^"'|\\n]{0,255}?)["']?[ \\t]{0,4}\\|(?=[^\\n|;&]{0,120}?${readsSecret})`, 'gd'), accept: isPiped },
  { kind: 'password', gate: ['<<<'], pattern: new RegExp(`${readsSecret}[^\\n|;&<]{0,120}<<<[ \\t]{0,4}`, 'g'), follows: isGiven },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:login|user(?:[ _-]?name)?)(?:\\s{1,8}(?!(?:and|or)\\s)|[ \\t]{0,2}[:=][ \\t]{0,2})\\S{1,128}\\s{1,8}(?:(?:and|with)\\s{1,8})?(?:the\\s{1,8})?(?:${passwordNames})[ \\t]{1,8}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['identified'], pattern: /identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by[ \t]{1,4}(?=["'])/gi, follows: isPassword },
  ...codeCalls,
  { kind: 'password', gate: ['convertto-securestring'], pattern: /convertto-securestring[ \t]{1,4}(?:-string[ \t]{1,4})?(?=["'])/gi, follows: isPassword },
  { kind: 'password', gate: ['psk'], pattern: /(?<![A-Za-z])psk(?:[ \t]{0,4}[=:][ \t]{0,4}|[ \t]{1,4}(?=["']))/gi, follows: isPassword },
  { kind: 'password', gate: ['requirepass', 'masterauth', 'bindpw', 'rootpw', 'wpa-psk'], pattern: new RegExp(`(?:requirepass|masterauth|bindpw|rootpw|wpa-psk)${flagEnd}`, 'g'), follows: isPassword },
  { kind: 'password-hash', gate: ['$1$', '$5$', '$6$', '$y$', '$2a$', '$2b$', '$2y$', '$apr1$', '$argon2'], pattern: /\$(?:[156y]|2[aby]|apr1|argon2(?:id|i|d))\$[A-Za-z0-9./+=,$-]{20,512}/g },
  { kind: 'password-hash', gate: ['{SHA', '{SSHA', '{MD5}', '{SMD5}'], pattern: /\{S?(?:SHA(?:256|384|512)?|MD5)\}[A-Za-z0-9+/]{22,256}={0,2}/g },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})${suffix}(?:${toBlock}|${toValue}|${assigns})`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})(?:${toContent})`, 'gi'), follows: isUnlikeName },
  { kind: 'secret', gate: tokenGate, pattern: new RegExp(`(?:${tokenNames})(?:${toContent})`, 'gi'), follows: isBareToken },
  { kind: 'password', gate: tags, pattern: new RegExp(`(?:${passwordNames})(?:${toMarked})`, 'gi'), follows: isUnlikeName },
  { kind: 'secret', gate: tags, pattern: new RegExp(`(?:${tokenNames})(?:${toMarked})`, 'gi'), follows: isBareToken },
  { kind: 'password', gate: wrappers, pattern: new RegExp(`(?:${passwordNames})${suffix}(?:${toWrapped})`, 'gi'), follows: isPassword },
  { kind: 'secret', gate: wrappers, pattern: new RegExp(`(?:${tokenNames})${suffix}(?:${toWrapped})`, 'gi'), follows: isToken },
  { kind: 'password', gate: ['pass', 'pw'], pattern: /(?<![\w-])(?:pass|pw)["']?[ \t]{0,4}[:=][ \t]{0,4}(?=["'])/gi, follows: isShortPassword },
  { kind: 'password', gate: ['pass', 'pw'], pattern: /(?<![\w-])(?:pass|pw)[ \t]{0,4}[:=][ \t]{0,4}(?=[\w!#$%&*+?@^~-]{6,128}(?:[\s,;.]|$))/gi, follows: isUnlikeName },
  { kind: 'password', gate: [':5432:', ':5433:', ':6432:', ':*:'], pattern: /^(?:[\w.-]{1,255}|\*):(?:\d{4,5}|\*):(?:[\w-]{1,63}|\*):[\w.@-]{1,63}:(?<secret>\S{3,256})$/gmd },
  { kind: 'password', gate: ['pw'], pattern: /(?<![\w-])pw[ \t]{0,4}:[ \t]{1,4}(?=\S{6,128}[ \t]{0,4}\r?$)/gim, follows: isShortPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})${nameEnd}(?:[ \\t]{0,4}[:=]|[ \\t](?:is|was):?)${boldEnd}[ \\t]{1,4}(?<secret>\\d{6,16})${endOfNumber}`, 'gid') },
  { kind: 'pin', gate: ['pin'], pattern: new RegExp(`(?<![\\w.-])pin(?:[ _-]?(?:code|number))?(?:[ \\t](?:for|of|to)[ \\t]${fewWords}?)?${boldEnd}(?:[ \\t]{0,4}[:=]|[ \\t](?:is|was|lautet|ist|est|es):?)${boldEnd}[ \\t]{1,4}(?!(?:19|20)\\d{6})(?<secret>\\d{4,8})${endOfNumber}`, 'gid') },
  { kind: 'recovery-code', gate: ['codes'], pattern: new RegExp(`${recoveryNames}["'\`]?[^\\n:=]{0,40}[:=\\n][\\s,"'\`[*•-]{0,12}(?:1[.)][ \\t]{0,4})?(?<secret>${recoveryCode}(?:[\\s,;"'\`*•-]{1,12}(?:\\d{1,2}[.)][ \\t]{0,4})?${recoveryCode}){0,31})`, 'gid') },
  { kind: 'recovery-code', gate: ['code'], pattern: new RegExp(`${recoveryName}(?:${assigns}|[ \\t]is:?[ \\t]{1,4})["'\`]?(?<secret>(?=[a-z-]{0,12}\\d)[a-z0-9]{4,6}(?:-[a-z0-9]{4,6}){1,3})(?![\\w-])`, 'gid') },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:pass(?:word|wd)?|pwd)(?:${assigns}|[ \\t]is:?[ \\t]{1,4})\\\\{0,3}["'\`]?(?<secret>${appPassword})(?![ \\w])`, 'gid') },
  { kind: 'mnemonic', gate: ['mnemonic', 'phrase', 'seed'], pattern: new RegExp(`(?:${mnemonicNames})(?:${assigns}|[ \\t]is:?[ \\t]{1,4})\\\\{0,3}["'\`]?(?<secret>${mnemonic})(?![ \\w])`, 'gid') },
  { kind: 'password', gate: accountGate, pattern: new RegExp(`(?:${account})["'\`]?(?:${assigns})${ofAccount}`, 'gi'), follows: isShortPassword },
  { kind: 'password', gate: accountGate, pattern: new RegExp(`(?:${account})[ \\t]{1,4}(?:(?:is|are|with|as|using|via):?[ \\t]{1,4})?${ofAccount}`, 'gi'), follows: isUnlikeName },
  { kind: 'password', gate: ['_PASS', '_PW'], pattern: new RegExp(`_(?:PASS|PW)(?:${toValue}|${assigns})`, 'g'), follows: isPassword },
  { kind: 'password', gate: ['pass'], pattern: new RegExp(`pass(?<=(?:${accounts})[_-]?pass)(?:${toValue}|${assigns})`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: /(?:\bENV|\bsetx|\bsetenv|\bset[ \t]-[gxUL]{1,4})[ \t]{1,4}\w{0,40}(?:pass(?:word|wd)?|pwd)[ \t]{1,4}/gi, follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})["'\`]?(?:[^"'\`=:.;\\n]|\\.(?! )){0,60}?[ \\t](?:is|was|equals)(?:\\*{1,3}|[ \\t]{0,2}[:=])?[ \\t]{0,2}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})[ \\t]${fromOld}(?:to|be|as|of|with)[ \\t]{0,2}[:=]?[ \\t]{0,2}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})(?:[^\\n:]{0,60}:${boldEnd}|(?<=(?:initial|temporary|generated|one-time)[^\\n:.]{0,40}))[ \\t]{0,4}(?:\\r?\\n[ \\t]{0,8}){1,2}(?=[^\\s"'\`]{6,128}[ \\t]{0,4}\\r?$)`, 'gim'), follows: isUnlikeName },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})[ \\t]${changed}[ \\t]{0,2}:[ \\t]{1,4}(?=\\S{6,128}[ \\t]{0,4}\\r?$)`, 'gim'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})[ \\t](?:(?:for|of|on|in)[ \\t]|[([])${fewWords}[:=][ \\t]{0,2}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})[ \\t](?:\\w{1,12}[ \\t]){0,3}${changed}[ \\t]${fromOld}to[ \\t]{1,2}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:${passwordNames})[ \\t](?:\\w{1,12}[ \\t]){0,4}from[ \\t]{1,2}(?=\\S{6,128}[ \\t]to[ \\t])`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`[ \\t](?=(?:is|was)[ \\t](?:my|our|your)[ \\t])(?<=(?<![^\\s"'\`])(?<secret>[^\\s"'\`]{6,128})["'\`]?[ \\t])\\w{2,3}[ \\t](?:\\w{1,12}[ \\t]){1,3}(?:${passwordNames})(?=[ \\t]{0,4}(?:[.,;!?)]|\\r?$)|[ \\t](?:for|to|on|of)[ \\t])`, 'gimd'), accept: isShortPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`${changed}[ \\t](?:\\w{1,12}[ \\t]){0,4}(?:${passwordNames})[ \\t](?:for|of|on|in)[ \\t]${fewWords}?[ \\t]to[ \\t]{1,2}`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass', 'pwd'], pattern: new RegExp(`(?:(?<![\\w-])--?(?:[\\w-]{0,20}-)?(?:${passwordNames}|(?:src|dest)?(?:store|key)pass)${flagEnd}|-pass(?:in|out)?[ \\t]{1,4}["']?pass:|<(?:\\w{1,20}:)?(?:${passwordNames})(?:[ \\t][^<>\\n]{0,80})?>(?:<!\\[CDATA\\[)?)`, 'gi'), follows: isPassword },
  { kind: 'password', gate: ['pass'], pattern: /(?:password|passphrase)["'`]?[ \t]{1,4}(?=["'“«])/gi, follows: isPassword, accept: isNoBlock },
  { kind: 'password', gate: ['pass'], pattern: /(?:password|passphrase)[ \t]{1,4}(?=`|\*\*)/gi, follows: isShortPassword },
  { kind: 'password', gate: foreignNames.split('|'), pattern: new RegExp(`(?:${foreignNames})(?:[ \\t](?:für|for|para|pour|de|del|do|da|voor|dla|для|от)[ \\t]${fewWords}?)?(?:["'»”]?${boldEnd}[ \\t]{0,4}[:=：＝]${boldEnd}|[ \\t]{0,2}(?:это|[—–]|(?:es|era|ist|is|war|lautet|est|était|to)(?![a-z])|é|是|为|は|은|는))[ \\t]{0,4}`, 'gi'), follows: isPassword },
  { kind: 'secret', gate: tokenGate, pattern: new RegExp(`(?:${tokenNames})${suffix}(?:${toBlock}|${toValue}|${assigns}(?:token[ \\t]{1,2})?)`, 'gi'), follows: isToken, accept: (_, before) => !harmlessToken.test(before) },
  { kind: 'secret', gate: ['key', 'token', 'secret'], pattern: new RegExp(`(?:(?<![\\w-])--?(?:[\\w-]{0,20}-)?(?:api-?key|token|secret|key)${flagEnd}|<(?:[a-z]{0,12}_?)(?:key|token|secret)>(?:<!\\[CDATA\\[)?)`, 'gi'), follows: isToken },
  { kind: 'secret', gate: tokenGate, pattern: new RegExp(`(?:${tokenNames})${nameEnd}(?:[ \\t](?:for|of|on|in)[ \\t]${fewWords}?(?=[ \\t](?:is|was)[ \\t]))?[ \\t](?:(?:is|was|to|be)[ \\t]{0,2}[:=]?[ \\t]{0,2}|(?=["'“«]))`, 'gi'), follows: isToken, accept: isNoBlock },
  { kind: 'secret', gate: tokenGate, pattern: new RegExp(`(?:${tokenNames})["'\`]?(?:[ \\t](?:\\w{1,12}[ \\t]){0,3}${changed}[ \\t]to|[ \\t]header:?)?[ \\t]{1,2}\\(?(?=["'\`]?[\\w+/.-]{16})`, 'gi'), follows: isBareToken },
  { kind: 'secret', gate: ['-signature='], pattern: /X-(?:Amz|Goog)-Signature=(?<secret>[0-9a-f]{64,1024})/gid },
  { kind: 'secret', gate: ['.vault.azure.net/secrets/'], pattern: /\.vault\.azure\.net\/secrets\/[^{}]{1,800}?"value":[ \t]{0,4}/g, follows: isGiven },
  { kind: 'secret', gate: ['key'], pattern: /(?<![\w-])key[ \t]{1,2}(?=["'`“«])/gi, follows: isKey, accept: (_, before) => !harmlessKey.test(before) },
  { kind: 'high-entropy', gate: [], pattern: /[:=][ \t]{0,4}\\{0,3}["'`]?(?!\/\/)(?<secret>[A-Za-z0-9+/_-]{20,257}={0,2})/gd, accept: (secret, before) => isKey(secret) && !isPublicName(before) },
  { kind: 'high-entropy', gate: [], pattern: /^[^\S\n]{0,16}["'`]?(?<secret>[A-Za-z0-9+/_-]{20,257}={0,2})["'`]?[^\S\n]{0,16}$/gmd, accept: isKey },
]

/** `user:password` in base64. */
function isBasicCredential(secret: string): boolean {
  try {
    return /^[!-9;-~]*:[ -~]+$/.test(atob(secret.replace(/-/g, '+').replace(/_/g, '/')))
  } catch {
    return false
  }
}

/** Not the type of a block, as in `resource "azurerm_key_vault_secret" "…" {`. */
function isNoBlock(_: string, before: string): boolean {
  return !/\b(?:resource|data|ephemeral)[ \t]+"\w*$/.test(before)
}

/** Judges what a command takes as a password, whatever it looks like. */
function isGiven(value: string): boolean {
  return isPassword(value, { quoted: true, environment: false })
}

/** `ada:password` for `chpasswd`, or a password alone. */
function isPiped(secret: string): boolean {
  return isGiven(secret.slice(secret.indexOf(':') + 1))
}

/** Judges a value that merely follows a name, as in `use API key …`. */
function isBareToken(value: string): boolean {
  return /\d/.test(value) && isToken(value, { quoted: false, environment: false })
}

/** Whether the value of any cookie must be hidden. */
export const isSecretCookie = (value: unknown): boolean => typeof value === 'string' && isSession(value)

type MemberKind = 'basic-auth' | 'cookie' | 'mnemonic' | 'password' | 'pin' | 'recovery-code' | 'secret'

const inQuotes: Evidence = { quoted: true, environment: false }

/** Names of members that hold a secret. The first row that fits a name judges its value. */
const secretMembers: readonly { kind: MemberKind; name: RegExp; accept: (value: string) => boolean }[] = [
  { kind: 'cookie', name: /^(?:set-)?cookies?$/i, accept: holdSession },
  { kind: 'cookie', name: new RegExp(`^(?:${sessionCookies})$`, 'i'), accept: isSession },
  { kind: 'basic-auth', name: /^_?auth$/i, accept: isBasicCredential },
  { kind: 'recovery-code', name: new RegExp(`${recoveryNames}$`, 'i'), accept: whole(recoveryCode, 'i') },
  { kind: 'pin', name: /^pin(?:[_-]?code)?$/i, accept: whole('\\d{4,8}') },
  { kind: 'mnemonic', name: new RegExp(`${mnemonicNames}$`, 'i'), accept: whole(mnemonic) },
  { kind: 'password', name: /^pass$|^pw$/i, accept: isShortOrAppPassword },
  { kind: 'password', name: /_(?:PASS|PW)$/, accept: isMemberPassword },
  {
    kind: 'password',
    name: new RegExp(`(?:${passwordNames}|${foreignPasswords})${suffix}$|(?:${accounts})[_-]?pass$`, 'i'),
    accept: isMemberPassword,
  },
  {
    kind: 'secret',
    name: new RegExp(`(?:${tokenNames}|${foreignTokens})${suffix}$`, 'i'),
    accept: (value) => isToken(value, inQuotes),
  },
]

/** What kind of secret the value of a member with this name is; `undefined` when it is not a secret. */
export function isSecretMember(name: string, value: string): MemberKind | undefined {
  const row = secretMembers.find((each) => each.name.test(name))
  if (!row || (row.kind === 'secret' && harmlessToken.test(name.replace(/tokens?$/i, '')))) return undefined
  return row.accept(value) ? row.kind : undefined
}

function whole(pattern: string, flags?: string): (value: string) => boolean {
  const anchored = new RegExp(`^(?:${pattern})$`, flags)
  return (value) => anchored.test(value)
}

const isAppPassword = whole(appPassword)

function isMemberPassword(value: string): boolean {
  return isPassword(value, inQuotes)
}

function isShortOrAppPassword(value: string): boolean {
  return isShortPassword(value) || isAppPassword(value)
}
