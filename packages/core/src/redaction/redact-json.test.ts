import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../test/processor-time.ts'
import { fill } from '../../test/secret-samples.ts'
import type { JsonValue } from '../json.ts'
import { redactJson, redactPartsOf, redactText } from './redact.ts'

describe('redactJson', () => {
  it('replaces the values of members whose names say secret', () => {
    const { value, counts } = redactJson({
      api_key: 'abcd1234efgh5678',
      db: { password: 'hunter2hunter2', port: 5432, tokens: ['abcdefgh12345678'] },
      safe: { pin: '4821', pinCode: 'unknown' },
      backupCodes: ['1a2b3-4c5d6', '1234 5678', 'in the safe'],
      next_page_token: 'abcdefgh12345678',
      passwordHint: 'the name of the dog',
    })
    expect(value).toEqual({
      api_key: '[redacted:secret]',
      db: { password: '[redacted:password]', port: 5432, tokens: ['[redacted:secret]'] },
      safe: { pin: '[redacted:pin]', pinCode: 'unknown' },
      backupCodes: ['[redacted:recovery-code]', '[redacted:recovery-code]', 'in the safe'],
      next_page_token: 'abcdefgh12345678',
      passwordHint: 'the name of the dog',
    })
    expect(counts).toEqual({ secret: 2, password: 1, pin: 1, 'recovery-code': 2 })
  })

  it('replaces a number as it would be replaced in text', () => {
    const value = { password: 12345678, pin: 4821, pinCount: 4821, port: 5432, safe: { passcode: 123456 } }
    expect(redactJson(value)).toEqual({
      value: {
        password: '[redacted:password]',
        pin: '[redacted:pin]',
        pinCount: 4821,
        port: 5432,
        safe: { passcode: '[redacted:password]' },
      },
      counts: { password: 2, pin: 1 },
    })
    const harmless = { pin: 13, password: 1, ratio: { password: 12345.5 }, token: 123456789, list: [4821] }
    expect(redactJson(harmless).value).toEqual(harmless)
  })

  it('replaces values that are named by the member or the item before them', () => {
    const value = {
      env: [
        { name: 'DB_PASSWORD', value: 'hunter2hunter2' },
        { name: 'MODE', value: 'hunter2hunter2' },
      ],
      secret: { key: 'DB_PASSWORD', value: 'hunter2hunter2' },
      parameter: { Name: 'DB_PASSWORD', Value: 'hunter2hunter2' },
      args: ['--user', 'ada', '--password', 'hunter2hunter2', 'hunter2hunter2'],
      auth: { user: 'ada', pass: 'hunter2hunter2' },
      mail: { smtpPass: 'opensesame', SMTP_PASS: 'opensesame', render_pass: 'hunter2hunter2' },
      parameters: { adminPassword: { value: 'hunter2hunter2' }, mode: { value: 'hunter2hunter2' } },
      tests: { pass: 'all of them 1' },
    }
    expect(redactJson(value).value).toEqual({
      env: [
        { name: 'DB_PASSWORD', value: '[redacted:password]' },
        { name: 'MODE', value: 'hunter2hunter2' },
      ],
      secret: { key: 'DB_PASSWORD', value: '[redacted:password]' },
      parameter: { Name: 'DB_PASSWORD', Value: '[redacted:password]' },
      args: ['--user', 'ada', '--password', '[redacted:password]', 'hunter2hunter2'],
      auth: { user: 'ada', pass: '[redacted:password]' },
      mail: {
        smtpPass: '[redacted:password]',
        SMTP_PASS: '[redacted:password]',
        render_pass: 'hunter2hunter2',
      },
      parameters: { adminPassword: { value: '[redacted:password]' }, mode: { value: 'hunter2hunter2' } },
      tests: { pass: 'all of them 1' },
    })
  })

  it.each([
    [['mysql', '-u', 'root', '-phunter2x', 'orders'], '-p[redacted:password]'],
    [['sudo', 'docker', 'login', '-u', 'ada', '-p', 'hunter2x'], '[redacted:password]'],
    [['curl', '-u', 'ada:sesame12', 'https://example.com'], 'ada:[redacted:basic-auth]'],
    [['curl', '-H', 'Accept: a b|c', '-u', 'ada:sesame12'], 'ada:[redacted:basic-auth]'],
    [['curl', '-b', `sid=${fill(26, 'abcdefghijklmnop0123456789')}; theme=dark`], '[redacted:cookie]'],
    [
      ['kubectl', 'create', 'secret', 'generic', 'db', '--from-literal=a=hunter2x'],
      '--from-literal=a=[redacted:password]',
    ],
    [['redis-cli', '-a', 'hunter2x and more'], '[redacted:password]'],
  ])('replaces the secret that a list of arguments tells a command: %j', (list, clean) => {
    const { value, counts } = redactJson(list)
    expect(value).toEqual(list.map((item) => (/hunter2|sesame|sid=/.test(item) ? clean : item)))
    expect(Object.values(counts)).toEqual([1])
    const [command = '', ...args] = list
    expect(redactJson({ command, args }).value).toEqual({ command, args: (value as string[]).slice(1) })
    expect(redactJson(value)).toEqual({ value, counts: {} })
  })

  it.each([
    [['docker', 'run', '-p', '8080:80', 'mysql', '-p3306:3306']],
    [['docker', 'run', '-u', '1000:1000', 'curl']],
    [['start mysql first', 'mkdir -parents2', '-parents2']],
    [['mysql', '-p', 'orders2']],
    [['ssh', '-p', '2222', 'ada@example.com']],
  ])('leaves a list alone that tells a command no secret: %j', (value) => {
    expect(redactJson(value)).toEqual({ value, counts: {} })
  })

  it('replaces the sessions that a browser keeps as cookies, and no other value of one', () => {
    const session = fill(26, 'abcdefghijklmnop0123456789')
    const place = { domain: 'internationalbusinessmachines.com', path: '/', sameSite: 'Lax' }
    const value = {
      cookies: [
        { name: 'sid', value: session, ...place },
        { name: 'theme', value: 'dark', ...place },
        { key: 'sid', value: `${session}==`, ...place },
      ],
      request: { Cookies: { sid: session, theme: 'dark', consent: true } },
      other: { sid: session },
    }
    expect(redactJson(value).value).toEqual({
      cookies: [
        { name: 'sid', value: '[redacted:cookie]', ...place },
        { name: 'theme', value: 'dark', ...place },
        { key: 'sid', value: '[redacted:cookie]', ...place },
      ],
      request: { Cookies: { sid: '[redacted:cookie]', theme: 'dark', consent: true } },
      other: { sid: session },
    })
  })

  it.each<Record<string, string>>([
    { name: 'DB_PASS', value: 'opensesame' },
    { key: 'SMTP_PW', value: 'opensesame' },
    { Name: 'smtpPass', Value: 'opensesame' },
    { Key: 'DB_PASSWORD', Value: 'opensesame' },
  ])('replaces the value of a pair as a value and in a text: %j', (pair) => {
    const clean = Object.fromEntries(
      Object.entries(pair).map(([key, text]) => [key, /value/i.test(key) ? '[redacted:password]' : text]),
    )
    expect(redactJson(pair).value).toEqual(clean)
    for (const indent of [0, 2])
      expect(redactText(JSON.stringify([pair], null, indent)).text).toBe(
        JSON.stringify([clean], null, indent),
      )
  })

  it.each(['senha', 'wachtwoord', 'kennwort', 'hasło', 'mot de passe', '密碼', '口令', '암호', '令牌'])(
    'replaces the value of a member named %s',
    (name) => {
      expect(redactJson({ [name]: 'abcdefgh12345678' }).value).toEqual({
        [name]: expect.stringMatching(/^\[redacted:(?:password|secret)\]$/),
      })
    },
  )

  it('replaces the session of a cookie that a member is named after, and no short value of one', () => {
    const session = fill(26, 'abcdefghijklmnop0123456789')
    const value = { PHPSESSID: session, 'connect.sid': session, session_cookie: 'none', cookie: 'theme=dark' }
    expect(redactJson(value).value).toEqual({
      PHPSESSID: '[redacted:cookie]',
      'connect.sid': '[redacted:cookie]',
      session_cookie: 'none',
      cookie: 'theme=dark',
    })
  })

  it('replaces what a header authorizes with, also where its scheme is not known', () => {
    const secret = fill(24, 'abcdefghijklmnop0123456789')
    const value = {
      Authorization: `GenieKey ${secret}`,
      headers: { authorization: 'Bearer s3cr3t.tok3n', 'Proxy-Authorization': `Digest ${secret}` },
      authorization: 'required for every request',
    }
    expect(redactJson(value).value).toEqual({
      Authorization: 'GenieKey [redacted:secret]',
      headers: {
        authorization: 'Bearer [redacted:bearer]',
        'Proxy-Authorization': 'Digest [redacted:secret]',
      },
      authorization: 'required for every request',
    })
  })

  it('replaces the account and password of a registry, and not how it is logged in to', () => {
    const value = {
      auths: { 'ghcr.io': { auth: btoa('ada:sesame') } },
      auth: 'password',
      _auth: btoa('ada:1'),
    }
    expect(redactJson(value).value).toEqual({
      auths: { 'ghcr.io': { auth: '[redacted:basic-auth]' } },
      auth: 'password',
      _auth: '[redacted:basic-auth]',
    })
  })

  it('leaves the value of a member alone whose name may be that of any key', () => {
    const value = { clave: 'hunter2hunter2', ключ: 'hunter2hunter2' }
    expect(redactJson(value)).toEqual({ value, counts: {} })
  })

  it('replaces secrets in member names and keeps the members apart', () => {
    const first = `gh${'p_'}${fill(36)}`
    const second = `gh${'p_'}${fill(36, undefined, 9)}`
    const third = `gh${'p_'}${fill(36, undefined, 11)}`
    expect(redactJson({ [first]: 1, [second]: 2, [third]: 3 }).value).toEqual({
      '[redacted:github]': 1,
      '[redacted:github] (2)': 2,
      '[redacted:github] (3)': 3,
    })
  })

  it('leaves members alone whose names only look random', () => {
    const value = { [fill(40)]: 1 }
    expect(redactJson(value)).toEqual({ value, counts: {} })
  })

  it('leaves random identifiers under public names alone', () => {
    const value = { id: fill(40), sessionId: fill(40), etag: fill(40) }
    expect(redactJson(value)).toEqual({ value, counts: {} })
  })

  it('replaces random values under names that only end like public ones', () => {
    expect(redactJson({ GRID: fill(40), valid: fill(40) }).counts).toEqual({ 'high-entropy': 2 })
  })

  it('keeps a member named __proto__ a member', () => {
    const value = JSON.parse('{"__proto__": {"password": "hunter2hunter2"}}')
    expect(JSON.stringify(redactJson(value).value)).toBe('{"__proto__":{"password":"[redacted:password]"}}')
  })

  it.each([
    'password',
    'token',
    'pass',
    'DB_PASS',
    'cookie',
    '_auth',
    'recovery_codes',
    'mnemonic',
    'smtp_pass',
  ])('takes time in proportion to the length of a hostile value of %s', (name) => {
    for (const piece of ['${', '#{', '{a}{', '^', '[a(', '\\', 'a1b2-', 'abcd ', 'a=', '[redacted:']) {
      const time = (length: number): number => {
        const value = { [name]: piece.repeat(length / piece.length) }
        return processorTime(() => redactJson(value))
      }
      time(2000)
      // Quadratic time would multiply by 256.
      expect(time(80_000) / Math.max(time(5000), 500), piece).toBeLessThan(100)
    }
  })

  it('changes nothing in a value that it has redacted, and nothing but strings', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const value = JSON.parse(JSON.stringify(given))
        const once = redactJson(value).value
        expect(redactJson(once)).toEqual({ value: once, counts: {} })
        if (JSON.stringify(value).length < 6) expect(once).toEqual(value)
      }),
    )
  })
})

describe('redactPartsOf', () => {
  const partsOf = (value: JsonValue) => redactPartsOf({ value, type: null })

  it('replaces in a part what only the name of a member tells of', () => {
    const redact = partsOf({ password: ['hunter2hunter2'], bank: { pin: 4711 }, note: 'apple pie' })
    expect(redact('hunter2hunter2\n4711\napple pie')).toBe('[redacted:password]\n[redacted:pin]\napple pie')
  })

  it('replaces in a row what only the first line of its table tells of', () => {
    const rows = Array.from({ length: 40 }, (_, i) => `| app${i} | zed | Wint3rgarten${i}9 |`)
    const redact = partsOf(['| service | owner | password |', '|---|---|---|', ...rows].join('\n'))
    expect(redact(rows[7] as string)).toBe('| app7 | zed | [redacted:password] |')
  })

  it('replaces each line of a secret of several, and what a part itself tells of', () => {
    const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n'.repeat(4)}-----END RSA PRIVATE KEY-----`
    const redact = partsOf(`The key:\n\n${key}\n\nand so on`)
    expect(redact('MIIEvQIBADANBgkqhkiG9w0BAQEFAASC\nand so on')).toBe('[redacted:private-key]\nand so on')
    expect(redact('password: hunter2hunter2')).toBe('password: [redacted:password]')
  })

  it('looks at the parts of an archived session by themselves', () => {
    const session = { body: '| name | password |\n|---|---|\n| ana | Wint3rgarten9 |' }
    const row = '| ana | Wint3rgarten9 |'
    expect(redactPartsOf({ value: session, type: 'conversation' })(row)).toBe(row)
    expect(redactPartsOf({ value: session, type: 'note' })(row)).toContain('[redacted:password]')
  })

  it('leaves parts of what holds no secret as they are', () => {
    expect(partsOf({ a: ['apple', 2026], b: null })('apple 2026')).toBe('apple 2026')
  })
})
