/**
 * Code point order; `<` on strings compares UTF-16 units instead. For well-formed strings, which all keys are, it is
 * also the order of their UTF-8 bytes. A lone surrogate counts as its own code point.
 */
export function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue
    // Compare whole characters: the differing unit may be the second half of a surrogate pair in one string only.
    const whole = i > 0 ? compareAt(a, b, i - 1) : 0
    return whole || compareAt(a, b, i)
  }
  return a.length - b.length
}

const compareAt = (a: string, b: string, i: number): number =>
  (a.codePointAt(i) as number) - (b.codePointAt(i) as number)
