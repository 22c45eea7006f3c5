import { ProtocolErrorCode, parseJSONRPCMessage } from '@modelcontextprotocol/server'

/** What is answered to a line that is no message; `null` for a message, and where nothing is owed. */
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
    : { code: ProtocolErrorCode.InvalidRequest, message: 'Invalid Request: the line is no JSON-RPC message' }
}

function isMessage(value: unknown): boolean {
  try {
    parseJSONRPCMessage(value)
    return true
  } catch {
    return false
  }
}

/** Two that answer each other's broken answers never end. */
const isAnswer = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !('method' in value) &&
  ('error' in value || 'result' in value)
