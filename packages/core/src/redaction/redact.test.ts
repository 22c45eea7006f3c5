import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { harmlessSamples } from '../../test/harmless-samples.ts'
import { processorTime } from '../../test/processor-time.ts'
import { fill, inContext, tokens } from '../../test/secret-samples.ts'
import { detectors } from './detectors.ts'
import { redactText } from './redact.ts'

const samples = [...tokens, ...inContext]

/** Beginnings and ends of a secret that stand beside what it was replaced by. */
const endsLeftOf = (secret: string, text: string): string[] =>
  Array.from({ length: Math.max(0, secret.length - 2) }, (_, i) => i + 2).flatMap((length) => [
    ...(text.includes(`]${secret.slice(-length)}`) ? [secret.slice(-length)] : []),
    ...(text.includes(`${secret.slice(0, length)}[redacted:`) ? [secret.slice(0, length)] : []),
  ])

describe('redactText', () => {
  it('leaves JSON, and JSON within JSON, what it is around a secret', () => {
    const inner = JSON.stringify({ password: 'hunter2hunter2', next: 1 })
    const clean = redactText(JSON.stringify({ inner: JSON.stringify({ inner }) })).text
    const parsed = JSON.parse(JSON.parse(JSON.parse(clean).inner).inner)
    expect(parsed).toEqual({ password: '[redacted:password]', next: 1 })
  })

  it.each(samples)('replaces a secret of kind $kind in: $text', ({ kind, secret, text }) => {
    const clean = redactText(text)
    expect(clean.text).not.toContain(secret)
    expect(clean.text).toContain(`[redacted:${kind}]`)
    expect(endsLeftOf(secret, clean.text)).toEqual([])
    expect(JSON.stringify(clean.counts)).not.toContain(secret)
    expect(clean.counts[kind]).toBe(1)
  })

  it.each(harmlessSamples)('leaves alone: %s', (text) => {
    expect(redactText(text)).toEqual({ text, counts: {} })
  })

  it('leaves an embedded image alone, for it is longer than any key', () => {
    const image = `iVBORw0KGgo${fill(4000)}`
    for (const text of [`"image": "data:image/png;base64,${image}"`, `"image": "${image}"`])
      expect(redactText(text).text).toBe(text)
  })

  it('reads a run of any length, such as an embedded image of ten megabytes', () => {
    const image = 'aB3x'.repeat(2_500_000)
    for (const text of [image, `data = "${image}"`]) expect(redactText(text)).toEqual({ text, counts: {} })
  })

  it.each([
    'ghp_',
    'Authorization: Bearer ',
    'eyJhbGciOiJI.eyJzdWIiOiI.',
    'password: ',
    'token=',
    '_authToken=',
  ])('reads ten megabytes without spaces after %s', (before) => {
    const { text } = redactText(`${before}${'aB3x'.repeat(2_500_000)}`)
    expect(text.slice(0, 40)).toMatch(/\[redacted:[a-z]+\]/)
  })

  it.each(['token=', 'password: "'])('replaces the whole of a long secret after %s', (before) => {
    const { text } = redactText(`${before}${'aB3x'.repeat(1500)} next`)
    expect(text).toMatch(/^\S+ ?"?\[redacted:[a-z]+\] next$/)
  })

  it.each([
    [
      'api_key=abcdefgh12345678 and password=hunter22',
      'api_key=[redacted:secret] and password=[redacted:password]',
    ],
    ['token: abcd1234efgh5678, pwd: hunter22', 'token: [redacted:secret], pwd: [redacted:password]'],
  ])('ends each of several values where it ends: %s', (text, clean) => {
    expect(redactText(text).text).toBe(clean)
  })

  it('lets no run of a pattern go on without end', () => {
    for (const { pattern } of detectors) {
      const bare = pattern.source.replace(/\\./g, 'x').replace(/\[[^\]]*\]/g, 'x')
      expect(bare, pattern.source).not.toMatch(/[*+]|\{\d+,\}/)
    }
  })

  it('keeps everything around a secret', () => {
    expect(redactText('a\nhttps://user:pass@host/x?y=1\nb').text).toBe(
      'a\nhttps://user:[redacted:url-credentials]@host/x?y=1\nb',
    )
    expect(redactText('{"user": "ada", "password": "hunter2hunter2", "port": 1}').text).toBe(
      '{"user": "ada", "password": "[redacted:password]", "port": 1}',
    )
    expect(redactText("INSERT INTO u (id, password) VALUES (1, 'hunter22'), (2, 'sommer99');").text).toBe(
      "INSERT INTO u (id, password) VALUES (1, '[redacted:password]'), (2, '[redacted:password]');",
    )
    expect(redactText('id,"password"\n1,"hunter22"\n2, sommer99 \n').text).toBe(
      'id,"password"\n1,"[redacted:password]"\n2, [redacted:password] \n',
    )
    expect(redactText('password: "hunter22\nand "more"').text).toBe(
      'password: "[redacted:password]\nand "more"',
    )
  })

  it('replaces the whole of a secret that another one stands in', () => {
    const inner = ['ghp', 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8'].join('_')
    expect(redactText(`password: "a ${inner} 1234" next`).text).toBe('password: "[redacted:github]" next')
  })

  it('replaces secrets that stand side by side, each of which hides the next', () => {
    const key = `SK${fill(32, '0123456789abcdef')}`
    expect(redactText(key.repeat(8)).text).toBe('[redacted:twilio]'.repeat(8))
  })

  it('keeps an escaped quote inside a value from ending it', () => {
    expect(redactText(String.raw`password: "abc\"def123" next`).text).toBe(
      'password: "[redacted:password]" next',
    )
  })

  it('ends an escaped value at a quote of the text around it', () => {
    const quote = (value: string): string => String.raw`"{\"password\": \"${value}" and "{\"port\": 1}"`
    expect(redactText(quote('hunter22')).text).toBe(quote('[redacted:password]'))
  })

  const green = (text: string): string => `\u001b[1;32m${text}\u001b[0m`

  it.each(samples)('replaces a coloured secret of kind $kind in: $text', ({ secret, text }) => {
    const coloured = text.replaceAll(secret, () => green(secret))
    expect(redactText(coloured).text).not.toContain(secret)
  })

  it('finds a secret under the colours of its name and within its own, and keeps the text around it', () => {
    const key = `AKIA${fill(16, 'ABCDEFGH234567')}`
    expect(redactText(`${green('password')}: ${green('hunter2hunter2')} ${green('ok')}`)).toEqual({
      text: `${green('password')}: ${green('[redacted:password]')} ${green('ok')}`,
      counts: { password: 1 },
    })
    expect(redactText(`at ${key.slice(0, 9)}${green(key.slice(9))}.`).text).toBe(
      'at [redacted:aws-key-id]\u001b[0m.',
    )
    const link = `\u001b]8;;https://ana:${key}@example.com\u0007docs\u001b]8;;\u0007`
    expect(redactText(link).text).not.toContain(key)
    expect(redactText(green('nothing')).counts).toEqual({})
  })

  it('finds a key in a path', () => {
    const key = ['AKIA', 'IOSFODNN7QWERTYZ'].join('')
    expect(redactText(`/srv/${key}/x`).text).toBe('/srv/[redacted:aws-key-id]/x')
  })

  it.each([
    'eve stays: /dev/shm/run-ci-I5j1As/a folder/findings.md',
    'TMPDIR=/var/folders/v9/p7k3d_2x5qj1wz8c4rn6tm0h0000gn/T/',
    'cwd: /tmp/Xy7Qp2/aB3dE9/Zk4mN8',
  ])('keeps the folders that programs make for a while: %s', (text) => {
    expect(redactText(text).text).toBe(text)
  })

  it('finds a key that nobody knows the shape of in a path', () => {
    const key = fill(32)
    expect(redactText(`url: /srv/hooks/${key}/x`).text).not.toContain(key)
  })

  it('counts every secret by its kind', () => {
    const text = `gh${'p_'}${fill(36)} and gh${'o_'}${fill(36)}, password=hunter22`
    expect(redactText(text).counts).toEqual({ github: 2, password: 1 })
    const key = `dapi${fill(32, '0123456789abcdef')}`
    expect(redactText(key + key).counts).toEqual({ databricks: 2 })
  })

  it('replaces each of many secrets in one text', () => {
    expect(redactText('password=hunter22\n'.repeat(100)).counts).toEqual({ password: 100 })
  })

  it('names the kind of a known shape rather than that of the name before it', () => {
    expect(redactText(`GITHUB_TOKEN=gh${'p_'}${fill(36)}`).text).toBe('GITHUB_TOKEN=[redacted:github]')
  })

  it('names the kind of a known shape rather than that of the command whose argument it is', () => {
    const list = (secret: string): string => `spawn("curl", ["-u", "ada:${secret}"])`
    expect(redactText(list(`gh${'p_'}${fill(36)}`)).text).toBe(list('[redacted:github]'))
    expect(redactText(list('hunter22')).text).toBe(list('[redacted:basic-auth]'))
  })

  it.each([4096, 65_536, 262_144, 524_288])('finds a secret that lies across offset %i', (offset) => {
    const secret = `gh${'p_'}${fill(36)}`
    for (const shift of [0, 1, 20, 39, 40]) {
      const text = `${'word '.repeat(Math.ceil(offset / 5)).slice(0, offset - shift - 1)} ${secret} and more`
      expect(redactText(text).text).not.toContain(secret)
    }
  })

  it.each(['token=', 'eyJ-', 'api_key=token.', 'cookie=a=', 'a\tTRUE\t'])(
    'takes little longer with a megabyte of %s than of words',
    (piece) => {
      // Windows counts the time of the processor in such steps.
      const clockStep = 15_625
      const effort = (text: string): number => processorTime(() => redactText(text))
      const hostile = effort(piece.repeat(2 ** 20 / piece.length))
      // It was a hundred times as long, which would keep a hub busy for half a minute with one request.
      expect(hostile / Math.max(effort('a word, '.repeat(2 ** 17)), clockStep)).toBeLessThan(40)
    },
  )

  it('takes any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (text) => {
        redactText(text)
      }),
    )
  })

  it('changes nothing in a text that it has redacted', () => {
    const piece = fc.oneof(
      fc.constantFrom(...samples.map(({ text }) => text), ...samples.map(({ secret }) => secret)),
      fc.constantFrom(
        'password',
        'token',
        '=',
        ':',
        '"',
        "'",
        '`',
        ' is ',
        '://',
        '@',
        '[redacted:x]',
        '\n',
        '\\',
      ),
      fc.string({ maxLength: 12 }),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), fc.constantFrom('', ' '), (pieces, glue) => {
        const once = redactText(pieces.join(glue)).text
        expect(redactText(once)).toEqual({ text: once, counts: {} })
      }),
      { numRuns: 500 },
    )
  })

  it('leaves words alone', () => {
    const word = fc.stringMatching(/^[a-z]{1,12}$/)
    fc.assert(
      fc.property(fc.array(word, { maxLength: 40 }), (words) => {
        const text = `${words.join(' ')}.`
        expect(redactText(text).text).toBe(text)
      }),
    )
  })

  it.each([
    'eyJ-',
    'sk-a-',
    'password is ',
    'token=',
    'password="',
    'password=“',
    '://a:b',
    '://a@b:c@',
    'amqp://a/b:c/',
    'http://a:b/c@',
    'amqp://a:b@',
    'authorization: bearer a.',
    'password:                 ',
    'token (',
    'token header: ',
    'key "',
    '-----BEGIN PRIVATE KEY-----',
    '=aB3',
    '密码是',
    'api_key=',
    'auth=a',
    'mysql -u ',
    'redis-cli ',
    'docker login ',
    'htpasswd -b a ',
    'sqlplus a/',
    'echo a ',
    'echo a | sudo ',
    'create secret --from-literal=a=',
    '"token" { ',
    '$2b$',
    'user a password ',
    'login a password ',
    'set a password for ',
    'Passwort für ',
    'token changed to ',
    'password value: ',
    'password: |\n ',
    'authorization: a ',
    '"--password", ',
    'ENV A_PASSWORD ',
    'pass: "',
    '"a", "mysql", ',
    '|--\n',
    'password|\n--|\n',
    '|',
    '-[ RECORD 1 ]\npassword |',
    'a  password\n-  -\n1  b ',
    '- - ',
    '\n-',
    'copy a (password) from stdin;\n',
    'copy ',
    'password=a&',
    'password,',
    'password,token\n',
    'a,password\na,"',
    'insert into t (a,password) values (',
    'insert into t (a,password) values (1),',
    "insert into t (a,password) values ('",
    'password from ',
    ' is my',
    'a is my password ',
    'recovery codes: 1234-a ',
    'pin for a ',
    'password is 1',
    '.get("password ',
    '.get(a(/password/i), ',
    '.login("a", ',
    'getConnection("a", "b", ',
    'password ?? ',
    'password = a.b ',
    'password") or ',
    'password:" send ',
    'pass=a ',
    'credentials: a:b ',
    'log in a / ',
    'mnemonic: abc ',
    'password: abcd ',
    'put-parameter --value a ',
    'Private-Lines: 1\n',
    'password**:** ',
    'password: ***',
    'password:\n "',
    'password = """',
    'password=String(',
    '<td>password</td><td>',
    '<password a>',
    'curl -',
    'curl -u a:',
    'a:b@tcp(',
    ':thin:a/',
    ';pwd={',
    'kind: Secret\ndata:\n a: b\n',
    '- data:\n  kind: Secret\n',
    'kind: secret ',
    '\u001b[',
    '\u001b]',
    '\u001b[1mtoken=',
  ])('takes time in proportion to the length of hostile text made of: %s', (piece) => {
    const time = (length: number): number => {
      const text = piece.repeat(length / piece.length)
      return processorTime(() => redactText(text))
    }
    time(5000)
    // Quadratic time would multiply by 256.
    expect(time(160_000) / Math.max(time(10_000), 500)).toBeLessThan(100)
  })
})
