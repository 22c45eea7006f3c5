/**
 * The label of a turn: the words of the heading that it starts with, and the speaker if its first line begins with a
 * name and a colon. '' when it has neither, and for one of several parts: only a short turn is judged by who speaks.
 */
export function unitLabel(text: string, parts: number): string {
  if (parts > 1) return ''
  const [, heading = '', name = ''] =
    /^(?:#{1,6} ([^\n]{1,200})\n\s*)?(?:\*{0,2}([\p{L}\p{N}][\p{L}\p{N} .'’-]{0,39})\*{0,2}:\s)?/u.exec(
      text,
    ) ?? []
  return [heading, name].filter(Boolean).join(' ')
}
