import { isRecord, parseJson } from '../json.ts'

/** Above this line an app describes what the person looks at and points to. */
const aboveRequest = /^## My request(?: for Codex)?:[ \t\r]*$/m
const begunByApp = /^\s*# (?:Context from my IDE setup|Files mentioned by the user|Response annotations)\b/
/** Nobody pointed at these: they just happened to be open. */
const aroundPerson = /^# Context from my IDE setup\b/
const browser = /^\s*<in-app-browser-context\b[^>]*>[\s\S]*?<\/in-app-browser-context>\s*/
const answers =
  /^\s*<send_user_message_question_reply>\s*([\s\S]*?)\s*<\/send_user_message_question_reply>\s*$/

/**
 * What a person typed, in a text that an app wrote in the person's name: the request, then the files and the answers
 * that it is about, without the open files and pages. Empty when nothing in it was typed.
 */
export function requestIn(text: string): string {
  const ofPerson = text.replace(browser, '')
  const reply = answers.exec(ofPerson)
  if (reply) return answersIn(reply[1] ?? '') ?? ofPerson
  const mark = aboveRequest.exec(ofPerson)
  if (mark === null) return ofPerson
  const above = ofPerson.slice(0, mark.index)
  if (above.trim() !== '' && !begunByApp.test(above)) return ofPerson
  const request = ofPerson.slice(mark.index + mark[0].length)
  const pointedAt = above.split(/^(?=# )/m).filter((section) => !aroundPerson.test(section))
  return [request, ...pointedAt]
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join('\n\n')
}

/** The questions that the agent asked, each with its answer; `undefined` when the text is something else. */
function answersIn(json: string): string | undefined {
  const replies = parseJson(json)
  if (!Array.isArray(replies)) return undefined
  const told = replies
    .filter(isRecord)
    .map(({ question, answer }) => [question, answer].filter((each) => typeof each === 'string').join('\n'))
  return told.length === 0 || told.includes('') ? undefined : told.join('\n\n')
}
