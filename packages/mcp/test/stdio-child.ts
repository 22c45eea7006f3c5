import { serveMcp } from '../src/stdio.ts'
import { sampleOptions } from './support.ts'

await serveMcp(await sampleOptions())
