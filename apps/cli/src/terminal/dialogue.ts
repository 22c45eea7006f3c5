import { createInterface } from 'node:readline/promises'

/**
 * Questions to the person at a terminal, who may type ahead. The program takes over the terminal only while a question
 * waits: at other times Ctrl-C ends the program.
 */
export function createDialogue(input: NodeJS.ReadableStream, output: NodeJS.WritableStream) {
  const ahead: string[] = []
  let begun = ''

  return async function ask(question: string): Promise<string> {
    const typed = ahead.shift()
    if (typed !== undefined) {
      output.write(`${question}${typed}\n`)
      return typed
    }
    const dialogue = createInterface({ input, output })
    // The answer itself does not trigger this event.
    dialogue.on('line', (line) => ahead.push(line))
    try {
      const answer = dialogue.question(question)
      if (begun !== '') dialogue.write(begun)
      return await answer
    } catch (error) {
      // Interrupted: the cursor is still after the question.
      output.write('\n')
      throw error
    } finally {
      begun = dialogue.line
      dialogue.close()
    }
  }
}
