/**
 * Invented secrets, put together at run time so that no scanner of repositories takes them for real ones.
 */
export interface SecretSample {
  kind: string
  secret: string
  text: string
}

const digits = '0123456789'
const lower = 'abcdefghijklmnopqrstuvwxyz'
const upper = lower.toUpperCase()
const alphanumeric = upper + lower + digits

/** Looks random, is the same every time. */
export function fill(length: number, alphabet = alphanumeric, seed = 7): string {
  let state = seed * 2654435761 + length
  let text = ''
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    text += alphabet[(state >>> 8) % alphabet.length]
  }
  return text
}

const hex = `${digits}abcdef`
const base64 = (text: string): string => btoa(text).replace(/=+$/, '')
const jwt = [base64('{"alg":"HS256","typ":"JWT"}'), base64('{"sub":"1234567890"}'), fill(43)].join('.')
const pem = (label: string, body: string): string =>
  [`-----BEGIN ${label}-----`, ...(body.match(/.{1,64}/g) ?? []), `-----END ${label}-----`].join('\n')
const rsaKey = pem(['RSA', 'PRIVATE', 'KEY'].join(' '), `MIIEowIBAAKCAQEA${fill(600)}`)

const sample = (kind: string, secret: string, text = `use ${secret} for this`): SecretSample => ({
  kind,
  secret,
  text,
})

/** A sample for each provider whose keys have a shape of their own. */
export const tokens: SecretSample[] = [
  ...['KI', 'SI', 'BI', 'CC', 'GP', 'ID', 'RO', 'IP', 'NP', 'NV'].map((use) =>
    sample('aws-key-id', `A${use}A${fill(16, upper + digits)}`),
  ),
  sample('aws-key-id', `A3TX${fill(16, upper + digits)}`),
  ...['aws_secret_access_key = ', 'AWS_SECRET_ACCESS_KEY=', '"SecretAccessKey": "'].map((name) => {
    const secret = fill(40, `${alphanumeric}/+`)
    return sample('aws-secret', secret, `${name}${secret}`)
  }),
  ...['p', 'o', 'u', 's', 'r'].map((letter) => sample('github', `gh${letter}_${fill(36)}`)),
  sample('github', `github_pat_${fill(22)}_${fill(59)}`),
  sample('recall', `recall_${fill(43, `${alphanumeric}-_`)}`),
  ...['pat', 'dt', 'rt', 'cbt', 'ptt', 'soat', 'ft'].map((use) => sample('gitlab', `gl${use}-${fill(20)}`)),
  sample('npm', `npm_${fill(36)}`),
  ...[
    '//registry.example.org/:_authToken=',
    '//registry.example.org/:_password = ',
    'npm config set :_auth=',
  ].map((name) => sample('npm', fill(36), name + fill(36))),
  sample('npm', 's3cr3t', '_authToken=s3cr3t'),
  sample('slack', ['xoxb', fill(12, digits), fill(13, digits), fill(24)].join('-')),
  sample('slack', ['xapp', '1', fill(11, upper), fill(13, digits), fill(40, hex)].join('-')),
  sample(
    'slack-webhook',
    fill(24),
    `https://hooks.slack.com/services/T${fill(8, upper)}/B${fill(8, upper)}/${fill(24)}`,
  ),
  ...['discord.com', 'discordapp.com'].map((host) =>
    sample('discord-webhook', fill(68), `https://${host}/api/webhooks/${fill(18, digits)}/${fill(68)}`),
  ),
  sample('sendgrid', `SG.${fill(22)}.${fill(43)}`),
  ...['pa', 'ca', 'at', 'ss'].map((use) => sample('shopify', `shp${use}_${fill(32, hex)}`)),
  sample('grafana', `glc_${fill(60)}`),
  sample('grafana', `glsa_${fill(32)}_${fill(8, hex)}`),
  sample('openai', `sk-proj-${fill(74)}T3Blbk${'FJ'}${fill(74)}`),
  sample('openai', `sk-${fill(20)}T3Blbk${'FJ'}${fill(20)}`),
  sample('openai', `sk-or-v1-${fill(64, hex)}`),
  sample('anthropic', `sk-ant-api03-${fill(93)}AA`),
  sample('groq', `gsk_${fill(52)}`),
  sample('xai', `xai-${fill(80)}`),
  ...['hf', 'api_org'].map((use) => sample('hugging-face', `${use}_${fill(34, upper + lower)}`)),
  sample('perplexity', `pplx-${fill(48)}`),
  sample('replicate', `r8_${fill(37)}`),
  ...['api', 'oauth', 'wh'].map((use) => sample('linear', `lin_${use}_${fill(40)}`)),
  sample('notion', `ntn_${fill(11, digits)}${fill(35)}`),
  sample('notion', `secret_${fill(43)}`),
  sample('1password', `ops_ey${fill(300)}fQ`),
  ...['s', 'b', 'r'].map((use) => sample('vault', `hv${use}.${fill(95)}`)),
  ...['p', 'i', 'a', 'r', 'k'].map((use) => sample('vercel', `vc${use}_${fill(24)}`)),
  sample('databricks', `dapi${fill(32, hex)}`),
  ...['pat', 'oat'].map((use) => sample('docker', `dckr_${use}_${fill(27)}`)),
  ...['d', 'o'].map((use) => sample('figma', `fig${use}_${fill(42)}`)),
  ...['sk_live_', 'rk_test_', 'whsec_'].map((start) => sample('stripe', start + fill(24))),
  sample('google', `AIza${fill(35)}`),
  sample('google', `GOCSPX-${fill(28)}`),
  sample('google', `ya29.${fill(120)}`),
  sample('azure', fill(86), `DefaultEndpointsProtocol=https;AccountKey=${fill(86)}==`),
  sample('azure', fill(43), `Endpoint=sb://orders.example.net/;SharedAccessKey=${fill(43)}=`),
  sample('azure', fill(43), `https://orders.example.net/a?sv=2024-11-04&sig=${fill(43)}%3D`),
  sample('terraform', `${fill(14)}.atlasv1.${fill(67)}`),
  sample('telegram', `${fill(10, digits)}:AA${fill(33)}`),
  sample('twilio', `SK${fill(32, hex)}`),
  sample('pypi', `pypi-AgE${fill(60)}`),
  sample('rubygems', `rubygems_${fill(48, hex)}`),
  ...['p', 'o', 'r'].map((use) => sample('digitalocean', `do${use}_v1_${fill(64, hex)}`)),
  ...['A', 'C'].map((use) => sample('atlassian', `AT${use}TT3${fill(60)}`)),
  ...['sbp', 'sb_secret'].map((use) => sample('supabase', `${use}_${fill(40, hex)}`)),
  sample('mapbox', `sk.ey${fill(60)}.${fill(22)}`),
  sample('postman', `PMAK-${fill(24, hex)}-${fill(34, hex)}`),
  sample('jwt', jwt),
  sample('private-key', rsaKey),
  sample('private-key', `AGE-SECRET-KEY-1${fill(58, upper + digits)}`),
  sample(
    'private-key',
    fill(64),
    pem(['OPENSSH', 'PRIVATE', 'KEY'].join(' '), `b3BlbnNzaC1rZXktdjE${fill(64)}`),
  ),
  sample(
    'private-key',
    fill(300),
    `{"private_key": "${pem(['PRIVATE', 'KEY'].join(' '), `MII${fill(300)}`).replaceAll('\n', '\\n')}"}`,
  ),
  sample(
    'private-key',
    fill(120),
    `cut short: -----BEGIN ${['PRIVATE', 'KEY'].join(' ')}-----\nMII${fill(120)}`,
  ),
]

/** Secrets that only their surroundings give away. */
export const inContext: SecretSample[] = [
  sample('url-credentials', 'pass', 'https://user:pass@host.example.com/x'),
  sample('url-credentials', 's3cret', 'postgres://app:s3cret@db.internal:5432/recall'),
  sample('url-credentials', 'p@ss:w0rd', 'mysql://root:p@ss:w0rd@localhost/db'),
  sample('url-credentials', 'r3d1sp4ss', 'redis://:r3d1sp4ss@cache:6379'),
  sample('url-credentials', 'S3cr3t', 'postgres://admin@srv:S3cr3t@srv.postgres.example.com:5432/db'),
  sample('url-credentials', 'hunter2', 'smtp://me@example.com:hunter2@smtp.example.com:587'),
  sample('url-credentials', 'hunter2', 'https://me@example.com:hunter2@proxy.example.com:8080/'),
  sample('url-credentials', 'hunter2', 'AMQP://team/app:hunter2@localhost'),
  sample('url-credentials', 'hun/ter2', 'ftp://user:hun/ter2@h/x'),
  sample('url-credentials', 'hun/ter2', 'https://user:hun/ter2@example.com/x'),
  sample('url-credentials', 'hun/t@r:2', 'mongodb+srv://user:hun/t@r:2@cluster.example.com/db?w=1'),
  sample('url-credentials', fill(40, hex), `https://${fill(40, hex)}:x-oauth-basic@github.com/a/b`),
  sample('url-credentials', fill(24), `https://${fill(24)}@example.com/a/b`),
  sample('bearer', fill(32), `Authorization: Bearer ${fill(32)}`),
  sample('bearer', fill(32), `it is sent as Bearer ${fill(32)}`),
  sample('bearer', 's3cr3t.tok3n', 'Authorization: Bearer s3cr3t.tok3n'),
  sample('bearer', 's3cr3t.tok3n', '{"authorization": "Bearer s3cr3t.tok3n"}'),
  sample('basic-auth', base64('aladdin:opensesame'), `Authorization: Basic ${base64('aladdin:opensesame')}`),
  sample('basic-auth', 'YWRhOj8_Pz4-Pg', 'authorization is Basic YWRhOj8_Pz4-Pg'),
  ...['curl -u', 'wget --user', 'http --user'].map((command) =>
    sample('basic-auth', 'opensesame', `${command} aladdin:opensesame https://example.com`),
  ),
  sample('secret', 'abcd1234efgh5678', '{"api_key": "abcd1234efgh5678"}'),
  sample('secret', fill(32, hex), `api_key: ${fill(32, hex)}`),
  sample('secret', fill(24), `export CUSTOM_API_KEY=${fill(24)}`),
  sample('secret', fill(24), `SECRET_KEY_BASE='${fill(24)}'`),
  sample('secret', fill(20), `config["client_secret"] = "${fill(20)}"`),
  sample('secret', fill(24), `https://example.com/cb?access_token=${fill(24)}&state=5`),
  sample('secret', fill(20), `tool --api-key ${fill(20)}`),
  sample('password', 'hunter2hunter2', 'password: "hunter2hunter2"'),
  sample('password', 'hunter2', 'password: hunter2'),
  sample('password', 'hunter2', 'DB_PASSWORD=hunter2'),
  sample('password', 'correcthorse', 'DB_PASSWORD=correcthorse'),
  sample('secret', 'a1b2c3d4', 'API_TOKEN=a1b2c3d4'),
  sample('password', 'hunter2', "if (password === 'hunter2') return"),
  sample('password', 'hunter2', 'RABBITMQ_DEFAULT_PASS=hunter2'),
  sample('password', 'hunter2', 'export MY_APP_PW="hunter2"'),
  sample('password', 'hunter2x', 'MYSQL_PASS: hunter2x'),
  sample('password', 'hunter2x', 'ansible_become_pass: hunter2x'),
  sample('password', 'hunter2x', 'smtp: { user: "ada", smtpPass: "hunter2x" }'),
  sample('password', 'hunter2x', '{"db-pass": "hunter2x"}'),
  sample('password', 'hunter2x', '"adminPassword": { "value": "hunter2x" }'),
  sample('secret', fill(20), `"apiKey": {\n  "value": "${fill(20)}"\n}`),
  sample('password', 'hunter2', 'password:         hunter2'),
  sample('password', 'correct horse', "passphrase = 'correct horse battery staple'"),
  sample('password', 'hunter2!', 'const password: string = "hunter2!"'),
  sample('password', 'hunter22', 'Server=db;Uid=app;Pwd=hunter22;'),
  sample('password', 'hunter22', '{\\"password\\": \\"hunter22\\"}'),
  sample('password', 'hunter22', 'mysqldump --password hunter22'),
  sample('password', 'hunter22', '<password>hunter22</password>'),
  ...[
    (secret: string) => `machine example.org login ada password ${secret}`,
    (secret: string) => `machine example.org\n  login ada\n  password ${secret}\n`,
    (secret: string) => `mysql -u root -p${secret} orders`,
    (secret: string) => `mysqldump -uroot -p'${secret}' orders`,
    (secret: string) => `sshpass -p ${secret} ssh deploy@example.org`,
    (secret: string) => `redis-cli -h cache -a ${secret} ping`,
    (secret: string) => `docker login -u ada -p ${secret}`,
    (secret: string) => `docker login registry.example.com \\\n  -u ada \\\n  -p ${secret}`,
    (secret: string) => `mongodump -u ada -p ${secret} --archive`,
    (secret: string) => `mariadb-dump -uroot -p${secret} orders`,
    (secret: string) => `7z x -p${secret} backup.7z`,
    (secret: string) => `zip -r -P ${secret} backup.zip data`,
    (secret: string) => `sqlcmd -S localhost -U sa -P ${secret} -Q 'select 1'`,
    (secret: string) => `ldapsearch -x -D cn=admin -w ${secret} uid=ada`,
    (secret: string) => `ssh-keygen -t ed25519 -N ${secret} -f key`,
    (secret: string) => `plink -ssh ada@example.org -pw ${secret}`,
    (secret: string) => `smbclient //files/share -U ada%${secret}`,
    (secret: string) => `sqlplus -s ada/${secret}`,
    (secret: string) => `nmcli device wifi connect home password ${secret}`,
    (secret: string) => `rabbitmqctl add_user ada ${secret}`,
    (secret: string) => `htpasswd -cb .htpasswd ada ${secret}`,
    (secret: string) => `htpasswd -nbB ada ${secret} > .htpasswd`,
    (secret: string) => `gh secret set DEPLOY --body ${secret}`,
    (secret: string) => `kubectl create secret generic db --from-literal=a=b1 --from-literal=b=${secret}`,
    (secret: string) => `keytool -list -keystore app.jks -storepass ${secret}`,
    (secret: string) => `openssl pkcs12 -in app.p12 -passin pass:${secret} -nodes`,
    (secret: string) => `echo ${secret} | sudo -S apt-get update`,
    (secret: string) => `echo "ada:${secret}" | sudo chpasswd`,
    (secret: string) => `printf '${secret}' | docker login -u ada --password-stdin`,
    (secret: string) => `sudo -S apt-get update <<< "${secret}"`,
    (secret: string) => `CREATE USER ada IDENTIFIED BY '${secret}'`,
    (secret: string) => `IDENTIFIED WITH caching_sha2_password BY '${secret}'`,
    (secret: string) => `client.user("ada").password("${secret}")`,
    (secret: string) => `form.setPassword('${secret}')`,
    (secret: string) => `ConvertTo-SecureString "${secret}" -AsPlainText -Force`,
    (secret: string) => `network={\n  psk="${secret}"\n}`,
    (secret: string) => `requirepass ${secret}`,
    (secret: string) => `log in as user ada with the password ${secret}`,
    (secret: string) => `variable "db_password" {\n  type    = string\n  default = "${secret}"\n}`,
    (secret: string) => `stringData:\n  password: |\n    ${secret}\n`,
    (secret: string) => `- name: DB_PASSWORD\n  value: ${secret}`,
    (secret: string) => `{"name": "DB_PASSWORD", "value": "${secret}"}`,
    (secret: string) => `<add key="DbPassword" value="${secret}" />`,
    (secret: string) => `ENV DB_PASSWORD ${secret}`,
    (secret: string) => `setx DB_PWD ${secret}`,
    (secret: string) => `"args": ["--password", "${secret}"]`,
    (secret: string) => `auth: { user: 'ada', pass: '${secret}' }`,
    (secret: string) => `auth: { user: 'ada', pw: '${secret}' }`,
    (secret: string) => `the pwd is ${secret}`,
    (secret: string) => `reset the pwd to ${secret}`,
    (secret: string) => `the pwd (staging): ${secret}`,
    (secret: string) => `the pwd was changed to ${secret}`,
    (secret: string) => `I set the pwd for staging to ${secret}`,
    (secret: string) => `tool --pwd ${secret}`,
  ].map((text) => sample('password', 'Tr0ub4dor&3xyz', text('Tr0ub4dor&3xyz'))),
  ...[
    (secret: string) => `Authorization: ApiKey ${secret}`,
    (secret: string) => `- name: API_TOKEN\n  value: ${secret}`,
    (secret: string) => `"args": [\n    "--api-key",\n    "${secret}"\n  ]`,
    (secret: string) => `Authorization: Hawk ${secret}`,
    (secret: string) => `setx API_KEY ${secret}`,
    (secret: string) => `ENV SIGN_KEY ${secret}`,
    (secret: string) => `ENV CI_TOKEN ${secret}`,
    (secret: string) => `ENV CLIENTSECRET ${secret}`,
  ].map((text) => sample('secret', fill(24), text(fill(24)))),
  sample(
    'private-key',
    fill(60),
    [`-----BEGIN RSA ${['PRIVATE', 'KEY'].join(' ')}-----`, `MII${fill(60)}`, fill(60)]
      .map((line, i) => `     ${i + 1}→${line}`)
      .join('\n'),
  ),
  sample('private-key', fill(64), `Private-Lines: 2\n${fill(64)}\n${fill(64)}\nPrivate-MAC: 0`),
  ...['$6$', '$2b$12$', '$argon2id$v=19$m=65536,t=3,p=4$'].map((start) =>
    sample('password-hash', `${start}${fill(43)}`, `root:${start}${fill(43)}:19000:0:99999:7:::`),
  ),
  sample('password', 'Tr0ub4dor', 'the password for the staging box is "Tr0ub4dor"'),
  sample('password', 'hunter22', 'I changed the password to hunter22 yesterday'),
  sample('password', 'hunter22', 'Password for admin: hunter22'),
  sample('password', 'hunter22', 'the password (staging): hunter22'),
  sample('password', 'tulip sofa', 'password for it: "tulip sofa"'),
  sample('password', 'tulip sofa', 'The password was changed to "tulip sofa".'),
  sample('password', 'hunter22', 'the password has been reset to hunter22'),
  sample('secret', fill(24), `the token for the staging box is ${fill(24)}`),
  sample('secret', fill(24), `the API key is ${fill(24)}`),
  sample('secret', fill(24), `use API key ${fill(24)} for it`),
  sample('secret', fill(24), `the key "${fill(24)}" opens it`),
  sample('secret', fill(24), `the token (${fill(24)}) opens it`),
  sample('secret', fill(24), `the X-Api-Key header ${fill(24)}`),
  sample('secret', fill(24), `the \`X-Api-Key\` header \`${fill(24)}\``),
  sample('secret', fill(24, hex), `the X-Api-Key header: ${fill(24, hex)}`),
  sample(
    'secret',
    fill(32, '0123456789abcdef'),
    `the API key was changed to ${fill(32, '0123456789abcdef')}`,
  ),
  sample('secret', fill(24), `token → ${fill(24)}`),
  sample('password', 'hunter22', 'password -> hunter22'),
  sample('password', 'hunter22', 'I set the password for the staging box to hunter22.'),
  sample('password', 'tulip sofa', 'please change my password on the router to "tulip sofa"'),
  sample('password', 'geheim123', 'Passwort für den Router: geheim123'),
  sample('password', 'abc12345', 'la contraseña de la base es abc12345'),
  sample('secret', fill(24), `my secret key "${fill(24)}"`),
  sample('password', 'хантер22', 'пароль: хантер22'),
  sample('password', 'abc12345', 'senha = "abc12345"'),
  sample('password', 'abc12345', 'la contraseña es abc12345'),
  sample('password', 'geheim123', 'Passwort: geheim123'),
  sample('password', 'hunter22', '密码：hunter22'),
  sample('password', 'hunter22', 'パスワードは「hunter22」です'),
  sample('password', 'hunter22', '비밀번호: hunter22'),
  sample('password', fill(20), `токен = "${fill(20)}"`),
  ...[
    (secret: string) => `< Set-Cookie: connect.sid=s%3A${secret}.x; Path=/; HttpOnly`,
    (secret: string) => `"set-cookie": [\n    "sid=${secret}; Path=/"\n  ]`,
    (secret: string) => `Cookie: theme=dark; sid=${secret}; lang=en`,
    (secret: string) => `curl -H 'cookie: sid=${secret}' https://example.com`,
    (secret: string) => `{\\"Cookie\\": \\"sid=${secret}\\"}`,
    (secret: string) => `curl -s -b "theme=dark; sid=${secret}" https://example.com`,
    (secret: string) => `document.cookie = "sid=${secret}"`,
    (secret: string) => `"connect.sid": "s%3A${secret}.x"`,
    (secret: string) => `https://example.com/cart;jsessionid=${secret}?page=2`,
    (secret: string) => `#HttpOnly_localhost\tFALSE\t/\tFALSE\t0\tsessionid\t${secret}`,
  ].map((text) => sample('cookie', fill(26, lower + digits), text(fill(26, lower + digits)))),
  sample('high-entropy', fill(40), `DEPLOY=${fill(40)}`),
  sample('high-entropy', fill(40), `first line\n  ${fill(40)}\nlast line`),
]
