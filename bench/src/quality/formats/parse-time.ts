/** Parses `1:56 pm on 8 May, 2023`, `29.12.2023, 22:42:04`, and whatever the language itself can parse. */
export function parseTime(text: string | null | undefined): string | null {
  if (!text) return null
  const spoken = /^(\d+):(\d+) (am|pm) on (.+)$/i.exec(text)
  const dotted = /^(\d{1,2})\.(\d{1,2})\.(\d{4})(.*)$/.exec(text)
  const plain = spoken
    ? `${spoken[4]} ${(Number(spoken[1]) % 12) + (spoken[3]?.toLowerCase() === 'pm' ? 12 : 0)}:${spoken[2]}`
    : dotted
      ? `${dotted[3]}-${dotted[2]}-${dotted[1]}${dotted[4]?.replace(',', '')}`
      : text.replace(/ \(\w+\) /, ' ')
  const time = new Date(/[zZ]|:\d\d(?:\.\d+)?[+-]\d\d:?\d\d$/.test(plain) ? plain : `${plain} UTC`)
  return Number.isNaN(time.getTime()) ? null : time.toISOString()
}
