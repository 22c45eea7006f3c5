import { listImportable, openTranscript } from '@recall/agents'

for (const path of await listImportable('/home/ana/.claude/projects')) {
  const conversation = await openTranscript(path)
  for await (const message of conversation.messages) {
    // message.role, message.content
  }
  // conversation.facts.skipped: what could not be read, by kind
}
