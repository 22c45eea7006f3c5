import type { ContentBlock, JsonValue } from '@recall/core'
import { isRecord } from '../json.ts'
import { toolName, toResultText } from './content-blocks.ts'

/** The parts of a message's content in the shape of Gemini's API: a text, a part, or a list of both. */
export const partsOf = (content: unknown): unknown[] => (Array.isArray(content) ? content : [content])

/**
 * The text of parts, without the model's thoughts.
 *
 * @param typedIn returns a part's text without what the host put there
 */
export const textOfParts = (
  parts: readonly unknown[],
  typedIn: (text: string) => string = (text) => text,
): string =>
  parts
    .map((part) => {
      if (typeof part === 'string') return part
      return isRecord(part) && typeof part.text === 'string' && part.thought !== true ? part.text : ''
    })
    .map(typedIn)
    .filter((text) => text !== '')
    .join('\n')

/** A tool call or its result, from a part. */
export function toToolBlocks(part: unknown): ContentBlock[] {
  const { functionCall: call, functionResponse: response } = isRecord(part) ? part : {}
  if (isRecord(call)) {
    const input = (call.args ?? null) as JsonValue
    return [{ type: 'tool_use', id: idOfCall(call), name: toolName(call.name), input }]
  }
  // A result without an id cannot be told apart from the one logged with the call.
  if (!isRecord(response) || idOfCall(response) === '') return []
  const failed = isRecord(response.response) && response.response.error !== undefined ? { isError: true } : {}
  const content = outputOf({ result: [part] }) ?? ''
  return [{ type: 'tool_result', toolUseId: idOfCall(response), content, ...failed }]
}

/** The id of a call or of its result; empty when it has none. */
export const idOfCall = ({ id }: Record<string, unknown>): string => (typeof id === 'string' ? id : '')

/** A call's output as the person saw it if that is a text, otherwise as the model was given it. */
export function outputOf({ resultDisplay, result }: Record<string, unknown>): string | undefined {
  if (typeof resultDisplay === 'string') return resultDisplay
  const responses = (Array.isArray(result) ? result : []).flatMap((part: unknown) => {
    const response = isRecord(part) && isRecord(part.functionResponse) ? part.functionResponse.response : null
    const text = isRecord(response) ? (response.output ?? response.error) : undefined
    return typeof text === 'string' ? [text] : []
  })
  if (responses.length > 0) return responses.join('\n')
  const other = resultDisplay ?? result
  return other === undefined || other === null ? undefined : toResultText(other)
}
