/**
 * What a unit says of itself before its text: the words of a heading at its start, and who speaks when its first
 * line begins with a name and a colon.
 */
export function unitLabel(text: string): string {
  const [, heading = '', name = ''] =
    /^(?:#{1,6} ([^\n]{1,200})\n\s*)?(?:\*{0,2}([\p{L}\p{N}][\p{L}\p{N} .'’-]{0,39})\*{0,2}:\s)?/u.exec(
      text,
    ) ?? []
  return [heading, name].filter(Boolean).join(' ')
}
