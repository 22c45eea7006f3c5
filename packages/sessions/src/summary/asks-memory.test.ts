import { expect, test } from 'vitest'
import { asksMemory } from './asks-memory.ts'

test.each([
  'recall search "connection pool"',
  'recall search "a; b && c" | head -20',
  'cd /srv/api && recall search --ranked pool',
  'RECALL_ROOT=~/ana npx -y @recall/cli search pool; true',
  'npx pnpm@10.34.9 -s recall search pool',
  'node /opt/recall/dist/recall.cjs consume',
  'recall consume && recall hub search jitter',
  'recall echoes surface --for "a retry"',
  'cat memory/EPHEMERAL.md',
  'head -n 40 /home/ana/.recall/memory/MEMORY.md',
])('%s only asks the memory', (command) => {
  expect(asksMemory({ command })).toBe(true)
  expect(asksMemory({ command: ['bash', '-lc', command] })).toBe(true)
  expect(asksMemory({ cmd: command, timeout: 5 })).toBe(true)
})

test.each([
  'recall search pool; npm test',
  'npm test && recall search pool',
  'recall status',
  'recall archive session.jsonl',
  'recall echoes add builder "Jitter" --evidence "recall search"',
  'echo recall search pool',
  'recalled search pool',
  'cat README.md',
  'cat memory/EPHEMERAL.md src/pool.ts',
  'cd /srv/api',
  '',
])('%s does more than ask the memory, or something else', (command) => {
  expect(asksMemory({ command })).toBe(false)
})

test('reading a file of the memory asks it, reading another one does not', () => {
  expect(asksMemory({ file_path: '/home/ana/.recall/memory/EPHEMERAL.md' })).toBe(true)
  expect(asksMemory({ path: 'C:\\ana\\memory\\conversations\\conversation-012.md', limit: 5 })).toBe(true)
  expect(asksMemory({ absolute_path: 'memories/archive-log-001.md' })).toBe(true)
  expect(asksMemory({ file_path: 'docs/MEMORY.md' })).toBe(false)
  expect(asksMemory({ file_path: null })).toBe(false)
  expect(asksMemory('memory/EPHEMERAL.md')).toBe(false)
  expect(asksMemory(['recall search pool'])).toBe(false)
})
