import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fill, inContext, tokens } from '../../test/secret-samples.ts'
import { detectors } from './detectors.ts'
import { redactJson, redactText } from './redact.ts'

const samples = [...tokens, ...inContext]

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
    expect(JSON.stringify(clean.counts)).not.toContain(secret)
    expect(clean.counts[kind]).toBe(1)
  })

  it.each([
    'the token expired',
    'password reset flow',
    'Please choose a password. The password must be at least 8 characters.',
    'The secret to good code is small functions; the key is naming.',
    'the password is required and the token is invalid',
    'Password for step 2: none',
    'the API key is read from the-file-of-the-service-1',
    'the password for the staging box went to "ada@example.org"',
    'the password has to be changed to meet the rules',
    'set the password for staging to something of your own',
    'the token createAuthenticatedSessionHandler stands for',
    'unexpected token kubernetes-production-1 in the list',
    '(token: Token) -> AuthenticatedSession2',
    '$this->password->digest256 = null',
    'die Passwort für den Router: keine Ahnung',
    'la clave del proyecto es la sencillez',
    'the token for the second request is invalidated',
    'Basic authentication-protocols and bearer authentication-schemes compared',
    'commit 9fceb02d0ae598e95dc970b74767f19372d61af8',
    'sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
    'id: 550e8400-e29b-41d4-a716-446655440000',
    'see src/components/UserProfile2/index.tsx:120 and /usr/local/lib/node_modules/npm',
    'createAuthenticatedSessionHandlerFactoryForUser2',
    'const token = await getAccessToken(session)',
    'const password = req.body.password',
    'password: string; apiKey?: string',
    'password: argon2id',
    'token: phase12b',
    'apiKey: process.env.OPENAI_API_KEY',
    `token: \${{ secrets.GITHUB_TOKEN }}`,
    'API_KEY=<your-api-key>',
    'password: ********',
    '{"type": "password", "label": "Enter your password"}',
    'max_tokens: 4096, tokenizer: gpt2-large-uncased',
    'http://host:8080/path?email=a@b.com',
    'git@github.com:org/repo.git and https://github.com/org/repo',
    'https://example.com/@user:x@y and https://example.com/~ada:notes@2',
    'http://localhost:PORT/@fs/a@1, http://web:8080/@ada, http://web:port/@ada and http://web:MY_PORT/a@b',
    'https://example.com:name/a@b and http://a/b:c@d',
    'https://cdn.example.com/npm/@scope/pkg@1.2.3:80 and http://localhost:3000/@fs/a@1',
    'ssh://git@example.com:2222/org/repo@v1 and git+ssh://git@example.com:org/repo.git',
    'postgres://ada@localhost:5432/db@replica, redis://cache:6379/0@x, smtp://example.com:25,ada@example.com',
    'mongodb://h1:27017,h2:27017/db?user=ada@example.com and amqp://localhost:5672/a@b',
    `postgres://me@srv:\${PASSWORD}@srv/db, smtp://me@example.com:$PASSWORD@smtp.example.com`,
    'ada@example.com:8080, bob@example.com:25 and mailto:eve@example.com',
    'the key "createAuthenticatedSessionHandler2" and key "users/550e8400-e29b-41d4-a716-446655440000"',
    `the public key "${fill(40)}" and the cache key "${fill(40)}"`,
    'the token (see src/auth2/session-token-2.ts), a token (src/auth2/session-token-2.ts)',
    'a token (CreateAuthenticatedSession2) and the Authorization header of-the-request-2-of-them',
    'Authorization: Bearer YOUR_TOKEN_1, Authorization: Bearer token123, Authorization: Bearer <token>',
    'password:          none of 12 were set',
    '"integrity": "sha512-AbCd0123AbCd0123AbCd0123EfGhXyZ=="',
    '"id": "toolu_01A09q90qw90lq917835lq9"',
    'conversation:ses_0123abcd45eff2NYIXZ3JVbt2Q',
    'the cursor eyJpZCI6MTIzNDU2Nzg5MH0 of the next page',
    'sk-estimators-of-the-whole-pipeline, xoxo-from-all-of-us and SG.module.configuration',
    'npm_config_registry_mirror_for_the_whole_team=1',
    'recall_echo_writes_the_summary_of_every_session_into_the_window',
    'risk-assessment-for-the-whole-organisation and task-list',
    'arn:aws:iam::123456789012:role/deploy',
    'docker run -u 1000:1000 image',
    '### Basic Operations',
    '"pass": "12 of 15 tests"',
    "pass: 'deployment'",
    'the shadow_pass = Pass3D of the frame',
    'the render-pass: forward2 comes first',
    'TESTS_PASS=12 and the compass: north-12',
    '"password": { "type": "value2" }',
    'mysql -u root -p orders',
    'docker run -p 8080:80 mysql -p3306:3306',
    'name: REPLICAS\nvalue: 3',
    'password: |\n  ask the person',
    'ENV NODE_ENV production',
    'authorization: see docs/authorization-guide.md',
    'the login form takes password fields',
    '["--verbose", "a-long-name-of-a-branch-1"]',
    'WWW-Authenticate: Bearer resource_metadata="https://example.com/.well-known"',
    'algorithm: CipherChaCha20Poly1305Types,',
    'if (e.token===1074790415||e.token===18) return',
    '2026-11-21T08:22:01.123Z',
    'Cookie: theme=dark; lang=en-US; consent=accepted',
    'Set-Cookie: seen=1; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Path=/a/long/path/of/words',
    'the cookie: chocolate chip=the-best-of-the-lot',
    'const cookie = request.cookies.get(sessionName)',
    'curl -b cookies.txt https://example.com',
    'curl -b theme=dark https://example.com',
    'localhost\tFALSE\t/\tFALSE\t0\ttheme\tdark',
    'connect.sid = name-of-the-session-cookie',
    'https://service-account-of-ci@example.com/a',
    'curl --user 1000:1000 https://example.com',
    'curl it, or `docker run --user 1000:1000`, --user $RANDOM:$RANDOM',
    `curl it, or docker run -u "\${UID}:\${GID}" image`,
    'curl it, sqlmap -u "https://example.com/?id=1", and pip install --user https://example.com/a.tgz',
    'curl it, or rsync -u files2:/srv/data2 .',
    'Version=4.0.0.0, Culture=neutral, PublicKeyToken=b77a5c561934e089',
    'systemd-ask-password --keyname=disk2 --timeout=60',
    '[Password in a stream](https://example.com/stream2)',
    'the username and password **SHOULD** be left out',
    'this.word_token=e.word_delimiter_token??""',
    'counts[token] = (index.tokenCounts2[token] ?? 0) + 1',
    'DB_PASSWORD: whatever the database was given',
    'PASSWORD: whatever',
    'user: ada\npassword: whatever the database was given',
    '{\n  username: form.name,\n  password: formValue,\n}',
    'const login = readLogin()\nconst password = prompted',
    'if (user&&password=valueOf(user)) return',
    'the password `password_hash` of each, and password `some text 1`',
    "'password' => Hash::make2($request->password), Password::min(8)->letters(), 'api_token' => Str::random(60)",
    '$password = $this->secret("Which one?"), $password = static::$password2 ?? null',
    'let token = std::env::var_os("API2").unwrap(); token: :required_in_production2',
    'credentials = ((AuthenticationSupported) repository).get(), $token = (Get-AzAccessToken -Url x)',
    'Username *string2\n\tPassword *string\n\tToken: *remoteBearerTokenOfTheFlag,',
    'Secret: v1beta1.ObjectStorageSecretSpec{',
    '"app.password=some-password",\n"app.driver=org.example.jdbc2.Driver"',
    `curl -u '<USER>:<PASSWORD_2>' https://example.com`,
    'postgres://app:%s@db:5432/orders, https://{user}:{password}@example.com/x',
    `password "#{ENV['DB_PASSWORD_2']}", --password="$$(cat /run/secrets/db-2)"`,
    "'password' => 'current_password:api'",
    'encode the password with pbkdf2',
    'resource "azurerm_key_vault_secret" "DefaultApplication" {',
    'resource "azurerm_container_registry_token_password" "import" {',
    'secret = "env(AUTH_EXTERNAL_SECRET)", "Passphrase": "[parameters(\'passphrase2\')]", password: "[FILTERED]"',
    'TEAMCITY_TOKEN="%env.TEAMCITY_TOKEN_2%"',
    'SMTP_PASS: MAIL_RELAY',
    'const token = signed.data!.token2',
    'export type Credentials = SolanaWeb3Credentials | EthereumWeb3Credentials',
    `const storageKey = \`signout-offline-\${scope2}\`, token = "prefix-#{name2}"`,
    'skip_secret_key_base: environment_specified? && x, credential: active_record_encryption.#{key}',
    'csrf_token = @controller.send(:mask_token2)',
    'plan.Password2 = password2',
    "typeof data.password === 'object'",
    `a file that begins with \`-----BEGIN ${'PRIVATE'} KEY-----\` is a key`,
    `https://www.youtube.com/watch?v=QedpQjxBPMA&list=${fill(34)}`,
    'DB_PASSWORD: required',
    'API_TOKEN=your-token-2-here and password: changeme1',
    'SECRET=https://vault.example.com/v1/9fK2xQ7Lw',
    'PASSWORD=//9fK2xQ7Lw/share',
    'password=--keyname=$1',
    'sessionId: 550e8400-e29b-41d4-a716-446655440000',
    'docker run --name mongo -p 27017:27017 mongo:7',
    'gh auth login -p https',
    'find . -type f | xargs -P 16 zip out2.zip',
    'echo "$DB_PASSWORD" | sudo -S apt-get update',
    'echo hello2 | grep -S hello2',
    'sqlplus -s @scripts/run2.sql',
    'mysql --port=3306 -u root -p',
    'ssh-keygen -t ed25519 -N "" -f key2',
    'openssl req -newkey rsa:2048 -passout pass: -x509',
    'gh secret set DEPLOY --body "$DEPLOY_KEY_2"',
    'requests are identified by user2id',
    'getPassword("db-main2")',
    'setPassword(newPassword2)',
    'variable "db_password" { sensitive = true }\nvariable "region" { default = "eu-west-1" }',
    'it costs $5$ or $6$ each, and $2$ more for the second one',
    'db_password: !vault |',
  ])('leaves alone: %s', (text) => {
    expect(redactText(text)).toEqual({ text, counts: {} })
  })

  it('leaves an embedded image alone, for it is longer than any key', () => {
    const text = `"image": "data:image/png;base64,iVBORw0KGgo${fill(4000)}"`
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

  it('counts every secret by its kind', () => {
    const text = `gh${'p_'}${fill(36)} and gh${'o_'}${fill(36)}, password=hunter22`
    expect(redactText(text).counts).toEqual({ github: 2, password: 1 })
    const key = `dapi${fill(32, '0123456789abcdef')}`
    expect(redactText(key + key).counts).toEqual({ databricks: 2 })
  })

  it('names the kind of a known shape rather than that of the name before it', () => {
    expect(redactText(`GITHUB_TOKEN=gh${'p_'}${fill(36)}`).text).toBe('GITHUB_TOKEN=[redacted:github]')
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
      // Of the processor, which other processes do not lengthen. Windows counts it in such steps.
      const clockStep = 15_625
      const effort = (text: string): number =>
        Math.min(
          ...[1, 2, 3].map(() => {
            const start = process.cpuUsage()
            redactText(text)
            const { user, system } = process.cpuUsage(start)
            return user + system
          }),
        )
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
    'Private-Lines: 1\n',
    '\u001b[',
    '\u001b]',
    '\u001b[1mtoken=',
  ])('takes time in proportion to the length of hostile text made of: %s', (piece) => {
    /** In microseconds. */
    const time = (length: number): number => {
      const text = piece.repeat(length / piece.length)
      return Math.min(
        ...[1, 2, 3].map(() => {
          // Of the processor alone: other processes may take turns with this one.
          const start = process.cpuUsage()
          redactText(text)
          const { user, system } = process.cpuUsage(start)
          return user + system
        }),
      )
    }
    time(5000)
    // Quadratic time would multiply by 64.
    expect(time(160_000) / Math.max(time(20_000), 500)).toBeLessThan(40)
  })
})

describe('redactJson', () => {
  it('replaces the values of members whose names say secret', () => {
    const { value, counts } = redactJson({
      api_key: 'abcd1234efgh5678',
      db: { password: 'hunter2hunter2', port: 5432, tokens: ['abcdefgh12345678'] },
      next_page_token: 'abcdefgh12345678',
      passwordHint: 'the name of the dog',
    })
    expect(value).toEqual({
      api_key: '[redacted:secret]',
      db: { password: '[redacted:password]', port: 5432, tokens: ['[redacted:secret]'] },
      next_page_token: 'abcdefgh12345678',
      passwordHint: 'the name of the dog',
    })
    expect(counts).toEqual({ secret: 2, password: 1 })
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
      mail: { smtpPass: 'hunter2hunter2', SMTP_PASS: 'hunter2hunter2', render_pass: 'hunter2hunter2' },
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

  it('replaces secrets in member names and keeps the members apart', () => {
    const first = `gh${'p_'}${fill(36)}`
    const second = `gh${'p_'}${fill(36, undefined, 9)}`
    expect(redactJson({ [first]: 1, [second]: 2 }).value).toEqual({
      '[redacted:github]': 1,
      '[redacted:github] (2)': 2,
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
    expect(redactJson({ PHPSESSID: fill(40), valid: fill(40) }).counts).toEqual({ 'high-entropy': 2 })
  })

  it('keeps a member named __proto__ a member', () => {
    const value = JSON.parse('{"__proto__": {"password": "hunter2hunter2"}}')
    expect(JSON.stringify(redactJson(value).value)).toBe('{"__proto__":{"password":"[redacted:password]"}}')
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
