import { createInMemoryStore, createMemoryManager } from '@recall/core'
import { createLearningRetriever } from '@recall/core/protocol'

const memory = createMemoryManager({ stores: createInMemoryStore() })

const lesson = { category: 'git', text: 'Pull before you push' }
for (const key of ['episode:1', 'episode:2']) {
  await memory.write('episodic', key, { outcome: 'failure', toolsUsed: ['git'], lessonsLearned: [lesson] })
}

const [group] = await createLearningRetriever(memory).retrieveLessons({
  toolsUsed: ['git'],
  outcome: 'failure',
})
console.log(group?.category, group?.lessons[0]?.count, group?.lessons[0]?.lesson.text) // git 2 Pull before you push
