import { ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server'

/** The answer to a line that is not a message; `null` for a message, and when no answer is due. */
export function refusalOf(line: string): { code: number; message: string } | null {
  if (line.trim() === '') return null
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    return { code: ProtocolErrorCode.ParseError, message: 'Parse error: the line is not valid JSON' }
  }
  return isMessage(value) || isAnswer(value)
    ? null
    : {
        code: ProtocolErrorCode.InvalidRequest,
        message: 'Invalid Request: the line is not a JSON-RPC message',
      }
}

function isMessage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value)
    return true
  } catch {
    return false
  }
}

/** Two sides that answer each other's broken answers would never stop. */
const isAnswer = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !('method' in value) &&
  ('error' in value || 'result' in value)
