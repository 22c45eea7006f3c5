import { expect, it } from 'vitest'
import { fileName } from './quality-report.ts'

it('names files so that a page can link to them, whatever a data set is called', () => {
  expect(fileName('locomo-dev', 'md')).toBe('quality-locomo-dev.md')
  expect(fileName('our own/set: 2', 'svg')).toBe('quality-our-own-set-2.svg')
})
