import fc from 'fast-check'
import { expect } from 'vitest'
import { everyCall, keysFound, refused } from './expectations.ts'
import { type Fixture, law, type Theme } from './harness.ts'

/** Every key keeps its own value, is found under its own name and can be deleted alone. */
async function keptApart({ memory }: Fixture, keys: readonly string[]): Promise<void> {
  for (const [i, key] of keys.entries()) await memory.write('long-term', key, i)
  for (const [i, key] of keys.entries()) expect(await memory.read('long-term', key)).toBe(i)
  expect((await keysFound(memory, 'long-term', {})).sort()).toEqual([...keys].sort())
  for (const [i, key] of keys.entries()) {
    await memory.delete('long-term', key)
    expect(await memory.exists('long-term', key)).toBe(false)
    const next = keys[i + 1]
    if (next !== undefined) expect(await memory.read('long-term', next)).toBe(i + 1)
  }
}

export const keys: Theme = {
  title: 'Keys',
  laws: [
    law('Any printable text of 1 to 1,024 characters is a key.', async ({ memory }) => {
      const key = fc
        .string({ unit: 'binary', minLength: 1, maxLength: 60 })
        .map((text) => text.replace(/\p{Cc}|^\ufeff/gu, '·'))
      await fc.assert(
        fc.asyncProperty(key, fc.integer(), async (name, value) => {
          await memory.write('long-term', name, value)
          expect(await memory.read('long-term', name)).toBe(value)
          expect(await memory.exists('long-term', name)).toBe(true)
        }),
        { numRuns: 50 },
      )
    }),

    law('Keys that look like paths are keys and nothing else.', (fixture) =>
      keptApart(fixture, [
        '../x',
        '../../etc/passwd',
        '/etc/passwd',
        'a/b',
        'a',
        'a/b/c',
        '.',
        '..',
        './a',
        'a//b',
        'C:\\x',
        '~',
        'a/',
        '.hidden',
      ]),
    ),

    law('Keys that a file system reserves or rewrites are ordinary keys.', (fixture) =>
      keptApart(fixture, [
        'CON',
        'nul.txt',
        'com1',
        '__proto__',
        'constructor',
        'trailing.',
        'trailing',
        ' lead',
        'lead',
        'tail ',
        'tail',
        'a:b',
        'a?b',
        'a<b>|"*',
        'index.md',
        'MEMORY.md',
        '-rf',
        '#1',
        '%2e%2e',
        '%',
      ]),
    ),

    law('Keys that differ only in case are two keys.', (fixture) =>
      keptApart(fixture, ['Goal', 'goal', 'GOAL', 'straße', 'STRASSE', 'ı', 'i', 'I']),
    ),

    law('Keys that differ only in Unicode normal form are two keys.', (fixture) =>
      keptApart(fixture, ['caf\u00e9', 'cafe\u0301', '\u212b', '\u00c5', '\ufb01', 'fi']),
    ),

    law('Keys may hold emoji and any script.', (fixture) =>
      keptApart(fixture, [
        '🧠',
        '👩‍👩‍👧',
        '🇩🇪',
        'цель',
        '目標',
        'هدف',
        '🧠/🧠',
        '\u{10ffff}',
        '\u200b',
        'a\u202eb',
      ]),
    ),

    law('A wildcard in a key stands for itself.', (fixture) =>
      keptApart(fixture, ['a%', 'a_', 'a*', 'a?', 'ab', 'a[b]', 'a', '%', '_', '*']),
    ),

    law('Keys of 1,024 characters that differ only at the end are kept apart.', (fixture) =>
      keptApart(fixture, [
        'x'.repeat(1023),
        `${'x'.repeat(1023)}1`,
        `${'x'.repeat(1023)}2`,
        '界'.repeat(1024),
        `${'界'.repeat(1023)}!`,
      ]),
    ),

    law(
      'A key that is empty, too long, not well-formed, begins with a byte order mark or holds control characters is refused by every call.',
      async ({ memory }) => {
        const bad = [
          '',
          'x'.repeat(1025),
          '\ud800',
          '\ufeffkey',
          'a\nb',
          '\u0000',
          'tab\t',
          '\u007f',
          'a\u0085b',
        ]
        for (const key of bad) {
          for (const name of [
            'write',
            'read',
            'delete',
            'exists',
            'batchRead',
            'batchWrite',
            'atomicUpdate',
          ]) {
            await refused('INVALID_INPUT', everyCall(memory, 'long-term', key)[name] ?? (async () => name))
          }
        }
        await refused('INVALID_INPUT', () => memory.read('long-term', 7 as unknown as string))
        expect(await keysFound(memory, 'long-term', {})).toEqual([])
      },
    ),
  ],
}
