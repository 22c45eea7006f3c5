/**
 * The text of an HTTP response. It is read only up to a limit, because a server that never stops would fill the memory.
 *
 * @throws RangeError when it is longer
 */
export async function readBody({ body }: Pick<Response, 'body'>, mostBytes: number): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  const reader = body.getReader()
  let text = ''
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return text + decoder.decode()
    length += value.length
    if (length > mostBytes) {
      await reader.cancel()
      throw new RangeError(`the answer has more than ${mostBytes} bytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}
