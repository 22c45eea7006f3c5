import { type PerformanceMark, performance } from 'node:perf_hooks'
import { lintSource } from '@secretlint/core'
import { rules } from '@secretlint/secretlint-rule-preset-recommend'
import { expect, it, vi } from 'vitest'
import { redactText } from '../src/redaction/redact.ts'
import { inContext, tokens } from './secret-samples.ts'

// The rule that reads comments lets any text switch the other rules off.
const config = {
  rules: rules
    .filter(({ meta }) => meta.id !== '@secretlint/secretlint-rule-filter-comments')
    .map((rule) => ({ id: rule.meta.id, rule, options: {} })),
}

// What it notes of its own time it compares with all that it has noted before, which takes longer than all else here.
vi.spyOn(performance, 'mark').mockReturnValue({} as PerformanceMark)

async function findings(content: string): Promise<string[]> {
  const result = await lintSource({
    source: { filePath: 'memory.txt', content, contentType: 'text', ext: '.txt' },
    options: { config, noPhysicFilePath: true },
  })
  return result.messages.map(({ ruleId, range }) => `${ruleId}: ${content.slice(...range)}`)
}

it.each([...tokens, ...inContext])(
  'secretlint finds nothing more in a redacted text: $text',
  async ({ text }) => {
    const clean = redactText(text).text.replace(/\[redacted:[a-z0-9-]+\]/g, '')
    expect(await findings(clean)).toEqual([])
  },
)

it('secretlint catches a good part of the samples, so that the comparison means something', async () => {
  const caught = new Set<string>()
  for (const { text } of [...tokens, ...inContext]) {
    for (const finding of await findings(text)) caught.add(finding.split(':')[0] ?? '')
  }
  expect([...caught].length).toBeGreaterThanOrEqual(20)
})
