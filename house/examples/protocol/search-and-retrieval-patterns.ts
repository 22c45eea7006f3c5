import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createLearningRetriever, createPatternMatcher, retrieveContext } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const context = await retrieveContext(memory, { description: 'deploy' })
const patterns = await createPatternMatcher(memory).findMatchingPatterns({ description: 'deploy' })
const lessons = await createLearningRetriever(memory).retrieveLessons({ toolsUsed: ['kubectl'] })
console.log(context.playbooks.length, patterns.length, lessons.length) // 0 0 0
