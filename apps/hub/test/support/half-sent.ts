import { once } from 'node:events'
import { connect } from 'node:net'
import { expect } from 'vitest'

/** A registration of which the hub has read the headers, and waits for the body. */
export async function beginRegistration(url: string) {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  const answer = async (): Promise<string> => String((await once(socket, 'data'))[0])
  const body = '{"name":"ada"}'
  const post = ['POST /api/v1/agents/register HTTP/1.1', 'Host: localhost', 'Expect: 100-continue']
  const sized = [...post, 'Content-Type: application/json', `Content-Length: ${body.length}`, '', '']
  socket.write(sized.join('\r\n'))
  expect(await answer()).toMatch(/^HTTP\/1.1 100 /)
  const send = (text: string): Promise<string> => {
    socket.write(text)
    return answer()
  }
  return {
    /** Sends the body. @returns the answer */
    finish: () => send(body),
    /** Sends what comes next over the same connection. @returns the answer */
    send,
  }
}
