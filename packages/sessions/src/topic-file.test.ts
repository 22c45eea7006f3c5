import { expect, it } from 'vitest'
import { isTopicFile, topicFileFor } from './topic-file.ts'

it.each(['Memory', 'Ephemeral', 'Archive', 'CON', 'PRN', 'AUX', 'NUL', 'COM1', 'LPT9'])(
  'a section %s gets no file that is something else',
  (heading) => {
    expect(topicFileFor(heading, new Set())).toBe(`${heading.toLowerCase()}-notes.md`)
    expect(isTopicFile(`${heading}.md`)).toBe(false)
  },
)

it.each([
  ['My memory', 'my-memory.md'],
  ['Archive of 2025', 'archive-of-2025.md'],
  ['Console', 'console.md'],
])('a section %s gets the file %s', (heading, file) => {
  expect(topicFileFor(heading, new Set())).toBe(file)
  expect(isTopicFile(file)).toBe(true)
})

it('cuts the name of a file between two letters', () => {
  const heading = `a${'𠮷'.repeat(70)}`
  expect(topicFileFor(heading, new Set())).toBe(`a${'𠮷'.repeat(59)}.md`)
})

it.each(['../notes.md', 'a/b.md', '.notes.md', 'notes.txt', 'notes.md.bak', '-a.md', ''])(
  'no topic file is %s',
  (name) => {
    expect(isTopicFile(name)).toBe(false)
  },
)
