import { connect } from 'node:net'

/** A server's answer to some bytes, and how long it takes until it closes the connection. */
export interface Answer {
  /** All of it, byte by byte as characters. */
  answer: string
  tookMs: number
}

/**
 * Opens a connection, sends bytes and waits until the server closes it. A reset is an answer too.
 *
 * @param options more: does not end, so that the server waits for more; drip: also sends this every second
 */
export const talk = (
  url: string,
  bytes: string | Uint8Array,
  { more = false, drip }: { more?: boolean; drip?: string } = {},
): Promise<Answer> =>
  new Promise((resolve) => {
    const started = performance.now()
    let answer = ''
    let timer: NodeJS.Timeout | undefined
    const socket = connect(Number(new URL(url).port), '127.0.0.1', () => {
      if (!more) return void socket.end(bytes)
      socket.write(bytes)
      if (drip !== undefined) timer = setInterval(() => socket.writable && socket.write(drip), 1000)
    })
    socket.setEncoding('latin1').on('data', (text: string) => {
      answer += text
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      clearInterval(timer)
      resolve({ answer, tookMs: performance.now() - started })
    })
  })

export const head = (method: string, path: string, ...lines: string[]): string =>
  [`${method} ${path} HTTP/1.1`, 'Host: localhost', 'Connection: close', ...lines, '', ''].join('\r\n')

/** The status of an answer; 0 if there is none. */
export const statusOf = (answer: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)

/** Whether a status blames the server; 503 does not, as the server says itself that it is busy. */
export const isFault = (status: number): boolean => status >= 500 && status !== 503
