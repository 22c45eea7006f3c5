import fc from 'fast-check'

/** Tokens that have broken parsers before. */
const tokens = [
  '---\n', '\n---\n', '\u0000', '\ufeff', '\r\n', '\r', '\u2028', '\u202e', '\u200b', '\ud800', '\u001b[2J',
  '__proto__', 'constructor', 'prototype', '{"__proto__":{"x":1}}', '&a [*a]', '*a', '<<: *a', '!!js/function "x"',
  '!!binary |\n', '? ', ': ', '- - - -', '{{{{', '[[[[', ']]]]', '"', "'", '`', '```\n', '~~~', '../', '..\\', '/etc/passwd',
  '~/', 'file:///', '1e999', '-0', 'NaN', '9007199254740993', '0x7f', '2026-13-45T99:99:99Z', '\\u0000', '\\', '<!--',
  '-->', '<recalled', '</recalled>', '<script>', '%00', '%s%n', '$where', '$regex', '(a+)+$', "' OR 1=1 --", '\t', ' ', '#',
  '# ', '## ', '### User\n', '|', '|---|', '=', '.', '[a]\n', '[[a]]\n', 'a = 1\n', 'a.b.c = "x"\n',
] // biome-ignore format: a list

const anyToken = fc.constantFrom(...tokens)

/** One change to a text; places and lengths are shares of it. */
const edit = fc.oneof(
  fc.record({
    kind: fc.constant('insert' as const),
    at: share(),
    text: fc.oneof(anyToken, fc.string({ unit: 'binary' })),
  }),
  fc.record({
    kind: fc.constant('repeat' as const),
    at: share(),
    text: anyToken,
    times: fc.constantFrom(3, 50, 2000),
  }),
  fc.record({ kind: fc.constant('delete' as const), at: share(), length: share() }),
  fc.record({ kind: fc.constant('double' as const), at: share(), length: share() }),
  fc.record({ kind: fc.constant('flip' as const), at: share(), bit: fc.integer({ min: 0, max: 7 }) }),
)

type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never

/** Bytes that are nearly what a parser reads: one of its samples with a few changes. */
export const hostileBytes = (samples: readonly Uint8Array[]): fc.Arbitrary<Uint8Array> =>
  fc
    .tuple(fc.constantFrom(...samples), fc.array(edit, { maxLength: 6 }))
    .map(([sample, edits]) => edits.reduce<Uint8Array>(apply, sample))

const longest = 200_000

function apply(bytes: Uint8Array, change: Edit): Uint8Array {
  const at = Math.floor(change.at * bytes.length)
  const length = 'length' in change ? Math.floor(change.length * (bytes.length - at)) : 0
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)]
  switch (change.kind) {
    case 'insert':
      return Buffer.concat([before, Buffer.from(change.text), after]).subarray(0, longest)
    case 'repeat':
      return Buffer.concat([before, Buffer.from(change.text.repeat(change.times)), after]).subarray(
        0,
        longest,
      )
    case 'delete':
      return Buffer.concat([before, after.subarray(length)])
    case 'double':
      return Buffer.concat([before, after.subarray(0, length), after]).subarray(0, longest)
    case 'flip': {
      const flipped = Buffer.from(bytes)
      if (at < flipped.length) flipped[at] = (flipped[at] as number) ^ (1 << change.bit)
      return flipped
    }
  }
}

function share(): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: 1000 }).map((thousandths) => thousandths / 1000)
}
