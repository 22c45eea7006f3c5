import { equalJson } from '@recall/core/json'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseFrontMatter, updateFrontMatter } from './front-matter.ts'

const numbers = ['20260102103012123', '1234e567', '0.1e5', '007', '+5', '.5', '0x1F', '0o17', '-.inf', '3.10']

/** What a person may write for a value, with the line end. */
const theirValues = [
  ...numbers.map((number) => ` ${number}\n`),
  ` [${numbers.join(',  ')}]\n`,
  `\n    - ${numbers.join('\n    - ')}\n`,
  `\n- one\n-   { a: 1.0, b: [2] }\n`,
  `\n   deep:\n      - 1.50 # why\n\n      # within\n   more: ~\n`,
  ' "a: \\u00e9" # beside\n',
  " 'it''s'   \n",
  ' plain text\n   over lines\n',
  ' "quoted\n   over lines"\n',
  ' |\n  # no comment\n   indented\n\n  ---\n',
  ' >-2\n    folded\n  text\n',
  ' [a, # within\n  b]\n',
  ' &mark !!str 5\n',
  '\n',
  '   # none\n',
  ' yes\r\n',
]

const ownFields = { ttl: 1000, type: 'idea', tags: ['a', 'b'], text: 'one\ntwo' }

/** Each in several spellings, without comments. */
const spelled: Record<keyof typeof ownFields, string[]> = {
  ttl: ['ttl: 1000\n', 'ttl: 1e3\n', '"ttl" : 1000\n', '? ttl\n: 1000\n', 'ttl:\n  1000\n'],
  type: ['type: idea\n', "type:   'idea'\n", 'type: !!str idea\n'],
  tags: ['tags: [a, b]\n', 'tags:\n- a\n- b\n', 'tags:\n  - a\n\n  - "b"\n', 'tags: [a,\n  b]\n'],
  text: ['text: |-\n  one\n  two\n', 'text: "one\n\n  two"\n', 'text: |-\n    one\n    two\n'],
}

const names = Object.keys(ownFields) as (keyof typeof ownFields)[]

const piece = fc.oneof(
  fc.constantFrom(...theirValues).map((their) => ({ their })),
  fc.constantFrom('# a comment\n', '\n', '#\n').map((comment) => ({ comment })),
  fc.constantFrom(...names).chain((own) => fc.constantFrom(...spelled[own]).map((text) => ({ own, text }))),
)

const updates = fc.record({
  ttl: fc.constantFrom(undefined, 1000, 5),
  type: fc.constantFrom(undefined, 'idea', 'a: b'),
  tags: fc.constantFrom<(string[] | undefined)[]>(undefined, ['a', 'b'], ['c #']),
  text: fc.constantFrom(undefined, 'one\ntwo', 'x'),
  hash: fc.constant('5b'),
})

it('changes its own lines alone, and leaves those of a person as they are, to the letter', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), updates, (pieces, changes) => {
      const present = new Set<string>()
      let [before, after] = ['', '']
      pieces.forEach((each, i) => {
        if ('comment' in each) {
          before += each.comment
          after += each.comment
        } else if ('their' in each) {
          const text = `${i % 2 === 0 ? 'their' : ''}${i}.0:${each.their}`
          before += text
          after += text
        } else if (!present.has(each.own)) {
          const { own, text } = each
          present.add(own)
          before += text
          const value = changes[own]
          if (value !== undefined)
            after += equalJson(value, ownFields[own]) ? text : `${printed(own, value)}\n`
        }
      })
      const added = Object.entries(changes).filter(
        ([name, value]) => value !== undefined && !present.has(name),
      )
      const end = 'end: 1.0\n'
      after += `${end}${added.map(([name, value]) => `${printed(name, value)}\n`).join('')}# The end.\n`
      before += `${end}# The end.\n`
      const file = `---\n${before}---\nbody\n`
      expect(parseFrontMatter(file)).not.toHaveProperty('problem')
      expect(updateFrontMatter(file, changes, 'it')).toBe(`---\n${after}---\n`)
    }),
    { numRuns: 1000 },
  )
})

const printed = (name: string, value: unknown): string =>
  `${name}: ${JSON.stringify(value).replaceAll('","', '", "')}`

const updated = (source: string, changes: Parameters<typeof updateFrontMatter>[1]): string =>
  updateFrontMatter(`---\n${source}---\nbody\n`, changes, 'it').slice(4, -4)

it('keeps the comments at a field that it removes, on lines of their own', () => {
  const gone = { ttl: undefined, type: undefined, tags: undefined, text: undefined }
  expect(updated('# Above.\nttl: 5\n', gone)).toBe('# Above.\n')
  expect(updated('a: 1\n# Above.\nttl: 5\n# Below.\n', gone)).toBe('a: 1\n# Above.\n# Below.\n')
  expect(updated('type: idea   # a kind\nttl: # of days\nb: 2\n', gone)).toBe('# a kind\n# of days\nb: 2\n')
  const list = '  tags: # why\n    - a#1 # one\n    # two\n    - "# no" # three\n  # four\n  b: 2\n'
  expect(updated(list, gone)).toBe('  # why\n  # one\n  # two\n  # three\n  # four\n  b: 2\n')
  expect(updated('text: | # head\n  # no comment\n  # none\n', gone)).toBe('# head\n')
})

it('keeps the comments at a field that it replaces', () => {
  const changes = { tags: ['c'], ttl: 5, text: '# x' }
  expect(updated('ttl: 6   # short\n', { ttl: 5 })).toBe('ttl: 5   # short\n')
  expect(updated('ttl: # of days\n', { ttl: 5 })).toBe('ttl: 5 # of days\n')
  expect(updated('tags:\n  - a # one\n  # two\n  - b # three\nttl: 5\ntext: "# x"\n# four\n', changes)).toBe(
    '# one\n# two\n# three\ntags: ["c"]\nttl: 5\ntext: "# x"\n# four\n',
  )
  expect(updated('tags: [a, # one\n  b] # two\n', { tags: ['c'] })).toBe('# one\ntags: ["c"] # two\n')
})

it('takes fields between braces apart, and keeps their numbers as they were typed', () => {
  const source = '{id: 007, "at":1e3, list: [0x1F], # why\n ttl: 5}\n'
  expect(updated(source, { ttl: 6 })).toBe('id: 007\n"at": 1e3\nlist: [0x1F] # why\nttl: 6\n')
})
