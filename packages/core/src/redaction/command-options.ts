/** How commands take a password on their line. */
interface CommandOption {
  commands: readonly string[]
  /** Pattern of the text between the command and the password. */
  option: string
}

const gap = '[ \\t]{1,4}'
const argument = `[^\\s|;&]{1,128}${gap}`
const login = (program: string): string => `${program} login`

// biome-ignore format: a table, one way a row
export const commandOptions: readonly CommandOption[] = [
  { commands: ['docker', 'podman', 'nerdctl', 'buildah', 'skopeo', 'registry', 'auth', 'az', 'oc', 'cf'].map(login), option: `-p${gap}` },
  { commands: ['mongo', 'cqlsh', 'cypher-shell', 'unlock-keychain'], option: `-p${gap}` },
  { commands: ['mysql', 'mariadb', '7z', 'unrar'], option: '-p(?=\\S)' },
  { commands: ['twine', 'useradd', 'supabase link', 'supabase db'], option: `-p${gap}` },
  { commands: ['sshpass'], option: '-p[ \\t]{0,4}' },
  { commands: ['zip', 'unzip', 'sqlcmd', 'mosquitto_pub', 'mosquitto_sub', 'ipmitool'], option: `-P${gap}` },
  { commands: ['redis-cli', 'valkey-cli'], option: `-a${gap}` },
  { commands: ['ldap'], option: `-w${gap}` },
  { commands: ['ssh-keygen'], option: `-[NP]${gap}` },
  { commands: ['plink', 'pscp', 'psftp'], option: `-pw${gap}` },
  { commands: ['smbclient', 'rpcclient'], option: '-U[ \\t]{0,4}["\']?[^\\s%]{1,64}%' },
  { commands: ['sqlplus'], option: '[^\\s/@]{1,64}/' },
  { commands: ['nmcli'], option: `password${gap}` },
  { commands: ['rabbitmqctl'], option: `(?:add_user|change_password)${gap}${argument}` },
  // With `n` there is no file before the account.
  { commands: ['htpasswd', 'mosquitto_passwd'], option: `-(?![A-Za-z]{0,8}n)[A-Za-z]{0,4}b[A-Za-z]{0,4}${gap}${argument}${argument}` },
  { commands: ['htpasswd'], option: `-(?=[A-Za-z]{0,8}n)[A-Za-z]{0,4}b[A-Za-z]{0,4}${gap}${argument}` },
  { commands: ['http'], option: '-a[ \\t=]{1,4}["\']?[^\\s:"\']{1,128}:' },
  { commands: ['net user', 'wpa_passphrase'], option: `${argument}(?!/)` },
  { commands: ['xfreerdp', 'wfreerdp', 'sdl-freerdp'], option: '/p:' },
  { commands: ['rclone'], option: `obscure${gap}` },
  { commands: ['signtool'], option: `/p${gap}` },
  { commands: ['openssl passwd'], option: `-(?:1|5|6|apr1)${gap}` },
  { commands: ['secretsmanager'], option: '--secret-string[ \\t=]{1,4}' },
  { commands: ['put-parameter'], option: '--value(?=[^\\n|;]{1,512}SecureString|(?<=SecureString[^\\n|;]{1,512}))[ \\t=]{1,4}' },
  { commands: ['npm', 'pnpm', 'yarn'], option: '[^\\s|;&]{0,200}:_(?:password|auth|authToken)[ \\t=]{1,4}' },
  { commands: ['gh secret set'], option: '(?:-b|--body)[ \\t=]{1,4}' },
  { commands: ['eas secret:create', 'eas env:create'], option: '--value[ \\t=]{1,4}' },
  { commands: ['mc alias set'], option: `${argument}${argument}${argument}` },
  { commands: ['composer config', 'poetry config'], option: `http-basic\\.${argument}${argument}` },
  { commands: ['poetry config'], option: `pypi-token\\.${argument}` },
  { commands: ['pulumi config set'], option: `(?:--secret${gap}${argument}|(?=[^\\n|;&]{1,512}[ \\t]--secret)[\\w:.-]{1,128}${gap})` },
  { commands: ['consul kv put', 'etcdctl put'], option: `[\\w/.-]{0,128}(?:password|passwd|secret|token|api[_-]?key)${gap}` },
]

/** The line of the command before the option; it may continue after a backslash, or a backtick in PowerShell. */
const before = '(?:[^\\n|;&]|(?<=[\\\\`]\\r?)\\n){0,120}?[ \\t]'

/** From the name of a command to the password that it takes. */
export function toPassword({ commands, option }: CommandOption): RegExp {
  return new RegExp(`(?<![\\w-])(?:${commands.join('|')})${before}${option}`, 'g')
}
