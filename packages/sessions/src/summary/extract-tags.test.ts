import { expect, it } from 'vitest'
import { createTagCollector } from './extract-tags.ts'

function tagsOf(
  texts: string[],
  inputs: [string, Parameters<ReturnType<typeof createTagCollector>['addToolUse']>[1]][] = [],
) {
  const collector = createTagCollector(() => '/home/dev/api')
  for (const text of texts) collector.addText('user', text)
  for (const [name, input] of inputs) collector.addToolUse(name, input)
  return collector.tags()
}

it('finds decisions and action items by how they are worded, one sentence each', () => {
  expect(
    tagsOf([
      'Tests pass. We decided to use JWT for auth. Fine.',
      "- Let's use pgvector\n* **chose to** keep SQLite\nTODO: rotate keys",
      '1. You need to add a test\nWe should follow up with Ana.',
    ]),
  ).toMatchObject({
    decisions: ['We decided to use JWT for auth.', "Let's use pgvector", 'chose to keep SQLite'],
    actionItems: ['TODO: rotate keys', 'You need to add a test', 'We should follow up with Ana.'],
  })
})

it('takes the marks of lists, headings, quotes and tasks off a line', () => {
  const { decisions } = tagsOf([
    '## We decided to use JWT\n> > going with Redis\n12)  [ ]  settled on Postgres\n- [x] chose to wait',
  ])
  expect(decisions).toEqual([
    'We decided to use JWT',
    'going with Redis',
    'settled on Postgres',
    'chose to wait',
  ])
})

it('takes what the person needs to do for an action item', () => {
  expect(tagsOf(['I need to rotate the keys.']).actionItems).toEqual(['I need to rotate the keys.'])
})

it('finds none in code, and none in an assistant’s announcement of its next step', () => {
  expect(tagsOf(['```\n// todo: x\n```'])).toMatchObject({ actionItems: [] })
  expect(tagsOf(['````md\n```js\n// todo: x\n```\n````\nTODO: y'])).toMatchObject({
    actionItems: ['TODO: y'],
  })
  expect(tagsOf(['- run\n- ```sh\n  # todo: x\n  ```\n\nTODO: y'])).toMatchObject({
    actionItems: ['TODO: y'],
  })
  expect(tagsOf(['1. Like this:\n\n       ```\n       // todo: x\n       ```'])).toMatchObject({
    actionItems: [],
  })
})

const itemsOfAssistant = (text: string): string[] => {
  const collector = createTagCollector(() => undefined)
  collector.addText('assistant', text)
  return collector.tags().actionItems
}

it.each([
  'Now I need to read the file.',
  "Next, I'll need to edit the pool.",
  'We need to make sure that it compiles.',
  'Now let me read what it does - it needs to close the pool.',
  'Also need to update the test.',
  'Still need to:',
  'I need to ask you about the next step.',
  'I need to update the page of the team.',
  'First I need to run the follow-up query.',
  'Based on the documentation, here is what you need to know about it:',
  'Let me check what still needs to be done.',
])('takes no next step of the assistant for an action item: %s', (text) => {
  expect(itemsOfAssistant(text)).toEqual([])
})

it.each([
  'We need to follow up with the security team next week about the pool.',
  'We need to follow up on the pool.',
  'Remaining: we still need to write tests.',
  'I still need to rotate the keys.',
  'I need to reach out to the vendor.',
  'We need to agree on it with the data platform team.',
  'We need to rotate the keys before the release.',
  'I will need to look at it again on Friday.',
  'TODO: we need to raise the limit.',
  'Users now need to sign in again.',
  'Need to raise the limit.',
  'You need to restart the server.',
  'The certificate needs to be renewed by 2026-03-01.',
])('keeps what the assistant says is left to do: %s', (text) => {
  expect(itemsOfAssistant(text)).toEqual([text])
})

it('gets through any number of steps in one sentence', () => {
  expect(itemsOfAssistant('we need to with the a '.repeat(50_000))).toEqual([])
})

it('lists files and tools once each, files relative to the project', () => {
  const tags = tagsOf(
    [],
    [
      ['Read', { file_path: '/home/dev/api/src/auth.rs' }],
      ['Edit', { file_path: '/home/dev/api/src/auth.rs', old_string: 'a.b = c', replace_all: true }],
      ['Glob', { pattern: '**/*.ts', path: 'My Notes/a.md' }],
      ['Fetch', { url: 'https://example.com/a.html', version: '1.2.3' }],
      [
        'Custom',
        { targets: ['lib/x.ts', 'README.md', 'no path'], paths: ['src/*.ts', 'https://a.dev/b.md'] },
      ],
    ],
  )
  expect(tags.files).toEqual(['src/auth.rs', 'My Notes/a.md', 'lib/x.ts', 'README.md'])
  expect(tags.tools).toEqual(['Read', 'Edit', 'Glob', 'Fetch', 'Custom'])
  expect(tagsOf([], [['', { path: '/home/dev/api/' }]])).toMatchObject({ files: [], tools: [] })
})

it('takes no word for a file that is written, looked for or asked', () => {
  const tags = tagsOf(
    [],
    [
      ['Edit', { file_path: 'src/a.ts', old_string: 'this.cache', new_string: 'this.store' }],
      ['WebSearch', { query: 'node.js' }],
      ['Grep', { pattern: 'user.posts' }],
      ['Task', { prompt: 'a.b', description: 'and/or' }],
      ['TodoWrite', { todos: [{ content: 'done.x' }] }],
      ['Skill', { skill: 'plugin.name' }],
    ],
  )
  expect(tags.files).toEqual(['src/a.ts'])
})

it('lists files apart whose names differ in case, and no sentence twice', () => {
  const tags = tagsOf(
    ['We decided to use JWT.', 'we DECIDED to use jwt.', 'TODO: rotate keys', 'todo: rotate keys'],
    [['Read', { paths: ['src/User.ts', 'src/user.ts', 'src/User.ts'] }]],
  )
  expect(tags).toMatchObject({
    decisions: ['We decided to use JWT.'],
    actionItems: ['TODO: rotate keys'],
    files: ['src/User.ts', 'src/user.ts'],
  })
})

it('makes files relative to a project on Windows', () => {
  const collector = createTagCollector(() => 'C:\\Users\\ana\\api')
  collector.addToolUse('Read', { file_path: 'C:\\Users\\ana\\api\\src\\pool.ts' })
  collector.addToolUse('Read', { file_path: 'C:\\Users\\ana\\api2\\pool.ts' })
  collector.addToolUse('Read', { file_path: 'c:/Users/ana/api/leak.ts' })
  expect(collector.tags().files).toEqual(['src\\pool.ts', 'C:\\Users\\ana\\api2\\pool.ts', 'leak.ts'])
})

it('keeps at most five decisions, five action items and ten files, and all tools', () => {
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  const tags = tagsOf(
    numbers.flatMap((number) => [`We decided to do ${number}`, `todo: ${number}`]),
    numbers.map((number) => [`Tool ${number}`, { path: `src/${number}.ts` }]),
  )
  const { decisions, actionItems, files, tools } = tags
  expect([decisions, actionItems, files, tools].map(({ length }) => length)).toEqual([5, 5, 10, 20])
})

it('gets through any number of texts that are nearly paths', () => {
  const nearly = Array.from({ length: 100_000 }, () => `${'a.'.repeat(149)}!`)
  expect(tagsOf([], [['Custom', { nearly }]]).files).toEqual([])
})
