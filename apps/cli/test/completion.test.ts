import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { targets } from '@recall/agents'
import { remembranceCategories } from '@recall/echoes'
import { settingNames } from '@recall/store-file'
import { describe, expect, it } from 'vitest'
import { createShell, temporaryFolder } from './support.ts'

/** Whether a shell is installed; the printed reason goes with the tests that are left out without it. */
function isThere(shell: string): boolean {
  const { status } = spawnSync(shell, ['-c', 'exit 0'])
  if (status !== 0) process.stderr.write(`completion for ${shell} is not tried: ${shell} is not installed\n`)
  return status === 0
}
describe('completion', () => {
  it('prints a script for each shell and refuses others', async () => {
    const shell = createShell()
    for (const name of ['bash', 'zsh', 'fish']) {
      const { code, out } = await shell.run('completion', name)
      expect(code).toBe(0)
      expect(out).toContain('archive')
    }
    expect(await shell.run('completion', 'cmd')).toMatchObject({ code: 2 })
  })

  it('knows the words that commands and options take', async () => {
    const shell = createShell()
    const scripts = ['bash', 'zsh', 'fish'].map(async (name) => (await shell.run('completion', name)).out)
    for (const script of await Promise.all(scripts)) {
      for (const words of [
        'entity user',
        'short-term long-term',
        'session-start turn-start',
        'bash zsh fish',
      ])
        expect(script).toContain(words)
      for (const setting of settingNames) expect(script).toContain(setting)
      expect(script).toContain(targets.map(({ name }) => name).join(' '))
      expect(script).toContain(remembranceCategories.join(' '))
      expect(script).toMatch(/help.*init uninit status/)
    }
  })

  it.runIf(process.platform !== 'win32')('for bash keeps names with spaces whole', async () => {
    const shell = createShell()
    writeFileSync(join(shell.root, 'my session.jsonl'), '')
    const script = join(temporaryFolder(), 'recall.bash')
    writeFileSync(script, (await shell.run('completion', 'bash')).out)
    const complete = (...words: string[]): string[] => {
      const ask = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _recall; printf '%s\\n' "\${COMPREPLY[@]}"`
      const argv = ['-c', ask, script, 'recall', ...words]
      return execFileSync('bash', argv, { cwd: shell.root, encoding: 'utf8' }).trimEnd().split('\n')
    }
    expect(complete('archive', 'my')).toEqual(['my session.jsonl'])
    expect(complete('search', '--scope', 'l')).toEqual(['long-term'])
    expect(complete('status', '--layout', '')).toEqual(['entity', 'user'])
    expect(complete('hook', 'pre')).toEqual(['pre-compact'])
    writeFileSync(join(shell.root, 'sh'), '')
    expect(complete('echoes', 'sh')).toEqual(['show'])
    expect(complete('echoes', 'promote', 'sh')).toContain('sh')
    expect(complete('help', 'sc')).toEqual(['scrub'])
    expect(complete('he')).toEqual(['help'])
    expect(complete('compact', '--ap')).toEqual(['--apply'])
  })

  it.runIf(isThere('zsh'))('for zsh answers the first time it is asked', async () => {
    const folder = temporaryFolder()
    writeFileSync(join(folder, '_recall'), (await createShell().run('completion', 'zsh')).out)
    const complete = (...words: string[]): string => {
      const ask = `fpath=($1); autoload -Uz _recall; shift; words=("$@"); CURRENT=$#
        _describe() { print -r -- $1 \${(P)2} }
        _arguments() { print -rl -- "$@" }
        _recall`
      const argv = ['-f', '-c', ask, 'zsh', folder, 'recall', ...words]
      return execFileSync('zsh', argv, { encoding: 'utf8' })
    }
    expect(complete('sea')).toContain('search:find what was said or learned')
    expect(complete('sea')).toContain('have ended\\: files')
    expect(complete('status', '--r').split('\n')).toEqual([
      '--root:value:_files',
      '--layout:value:(entity user)',
      '--json',
      '*:file:_files',
      '',
    ])
    expect(complete('completion', 'z')).toContain('1:action:(bash zsh fish)')
  })

  it.runIf(isThere('fish'))('for fish offers what fits the place', async () => {
    const folder = temporaryFolder()
    const script = join(folder, 'recall.fish')
    writeFileSync(script, (await createShell().run('completion', 'fish')).out)
    const complete = (line: string): string[] =>
      execFileSync('fish', ['-c', 'source $argv[1]; complete -C $argv[2]', script, line], {
        encoding: 'utf8',
        cwd: folder,
      }).split('\n')
    expect(complete('recall arch')).toEqual([
      'archive\tarchive sessions that have ended: files, or folders of them',
      '',
    ])
    expect(complete('recall search --scope l')).toEqual(['long-term', ''])
    expect(complete('recall completion ')).toEqual(['bash', 'fish', 'zsh', ''])
    expect(complete('recall archive recall.f')).toEqual(['recall.fish', ''])
    // `search` is an action of `hub`, too, and a command with other options.
    expect(complete('recall hub search --ranke')).toEqual([''])
  })
})
