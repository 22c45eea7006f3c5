import { expect, it } from 'vitest'
import { assessHealth } from './health.ts'

it.each([
  [true, true, true, 'healthy', ''],
  [true, false, true, 'degraded', 'the curated memory file does not exist'],
  [true, true, false, 'degraded', 'the archive folder does not exist'],
  [true, false, false, 'degraded', 'the curated memory file and the archive folder do not exist'],
  [false, true, true, 'down', 'the memory folder does not exist'],
])('judges folder %s, file %s, archives %s as it is', (memory, curated, archives, health, reason) => {
  expect(assessHealth({ present: { memory, curated, archives } })).toEqual({ health, reason })
})

it('names all that is wrong with a memory, missing and faulty', () => {
  const [present, faults] = [
    { memory: true, curated: true, archives: true },
    ['this is half merged', 'that is unreadable'],
  ]
  expect(assessHealth({ present, faults })).toEqual({
    health: 'degraded',
    reason: 'this is half merged; that is unreadable',
  })
  expect(assessHealth({ present: { ...present, archives: false }, faults }).reason).toBe(
    'the archive folder does not exist; this is half merged; that is unreadable',
  )
})
