import { once } from 'node:events'
import { serveMcp } from '../src/stdio.ts'
import { sampleOptions } from './support.ts'

const options = await sampleOptions()
const { hub } = options
await serveMcp({
  ...options,
  hub: {
    ...hub,
    // Answers only once the input has ended.
    search: async (question, asked) => {
      if (question === 'slow' && !process.stdin.readableEnded) await once(process.stdin, 'end')
      return hub.search(question, asked)
    },
  },
})
