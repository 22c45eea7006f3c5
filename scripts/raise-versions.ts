/** Gives what hosts install the version of the command that they run: `changeset version` knows packages only. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const { version } = JSON.parse(readFileSync(join(root, 'apps/cli/package.json'), 'utf8')) as {
  version: string
}

for (const path of ['plugins/server.json', 'plugins/recall/.claude-plugin/plugin.json']) {
  const text = readFileSync(join(root, path), 'utf8')
  writeFileSync(join(root, path), text.replace(/"version": "[^"]*"/g, `"version": "${version}"`))
}
