/** One line of a chart of growth. */
export interface Curve {
  name: string
  points: { x: number; y: number }[]
}

const colours = ['#1f4d3a', '#c2703d', '#3d6fc2', '#8a4fa3', '#9aa5a0', '#b8a13a']
const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

const svg = (width: number, height: number, label: string, content: string): string =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${escapeText(label)}">
<rect width="100%" height="100%" fill="#fff"/>
${content}
</svg>
`

/** Powers of ten from the one below the least value to the one above the greatest. */
function decades(values: readonly number[]): { from: number; to: number } {
  const logs = values.map(Math.log10)
  const from = Math.floor(Math.min(...logs))
  return { from, to: Math.max(from + 1, Math.ceil(Math.max(...logs))) }
}

const nameOfPower = (power: number): string =>
  (10 ** power).toLocaleString('en', { maximumFractionDigits: 6 })

/** Curves on logarithmic scales, where a power of the size is a straight line. */
export function growthChart(label: string, curves: readonly Curve[]): string {
  const [left, top, width, height] = [60, 20, 480, 300]
  const points = curves.flatMap((curve) => curve.points)
  const across = decades(points.map(({ x }) => x))
  const up = decades(points.map(({ y }) => y))
  const x = (value: number): number =>
    left + ((Math.log10(value) - across.from) * width) / (across.to - across.from)
  const y = (value: number): number =>
    top + height - ((Math.log10(value) - up.from) * height) / (up.to - up.from)
  const parts: string[] = []
  for (let power = up.from; power <= up.to; power++) {
    const at = y(10 ** power).toFixed(1)
    parts.push(
      `<line x1="${left}" y1="${at}" x2="${left + width}" y2="${at}" stroke="#e3e6e4"/><text x="${left - 6}" y="${Number(at) + 4}" text-anchor="end">${nameOfPower(power)}</text>`,
    )
  }
  for (let power = across.from; power <= across.to; power++) {
    const at = x(10 ** power).toFixed(1)
    parts.push(`<text x="${at}" y="${top + height + 18}" text-anchor="middle">${nameOfPower(power)}</text>`)
  }
  for (const [i, curve] of curves.entries()) {
    const colour = colours[i % colours.length]
    const placed = curve.points.map((point) => `${x(point.x).toFixed(1)},${y(point.y).toFixed(1)}`)
    parts.push(
      `<polyline points="${placed.join(' ')}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...placed.map(
        (at) => `<circle cx="${at.split(',')[0]}" cy="${at.split(',')[1]}" r="3" fill="${colour}"/>`,
      ),
      `<rect x="${left + width + 20}" y="${top + i * 22}" width="12" height="12" fill="${colour}"/><text x="${left + width + 38}" y="${top + i * 22 + 11}">${escapeText(curve.name)}</text>`,
    )
  }
  return svg(left + width + 320, top + height + 32, label, parts.join('\n'))
}

export interface Bar {
  name: string
  value: number
  shown: string
  isOurs?: boolean
}

/** Bars on a logarithmic scale, shortest first; ours stand out. */
export function barChart(label: string, bars: readonly Bar[]): string {
  const { from, to } = decades(bars.map(({ value }) => value))
  const rows = [...bars]
    .sort((a, b) => a.value - b.value)
    .map(({ name, value, shown, isOurs }, i) => {
      const y = 36 + i * 24
      const length = Math.max(2, ((Math.log10(value) - from) * 400) / (to - from)).toFixed(1)
      return `<text x="192" y="${y + 13}" text-anchor="end">${escapeText(name)}</text><rect x="200" y="${y}" width="${length}" height="17" fill="${isOurs ? '#2f6f4f' : '#9aa5a0'}"/><text x="${(206 + Number(length)).toFixed(1)}" y="${y + 13}">${escapeText(shown)}</text>`
    })
  const title = `<text x="16" y="20" font-weight="bold">${escapeText(label)}</text>`
  return svg(720, 44 + bars.length * 24, label, [title, ...rows].join('\n'))
}
