/**
 * Adapts bodies to a client that reads streams of events. An answer in one piece of JSON becomes one event. The end `[DONE]`,
 * which the client swallows, becomes another.
 */
export const asEvents =
  (asks: typeof fetch): typeof fetch =>
  async (url, request) => {
    const response = await asks(url, request)
    if (!response.ok || response.body === null) return response
    const events = response.body
      .pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>)
      .pipeThrough(eventsOf())
      .pipeThrough(new TextEncoderStream())
    return new Response(events, response)
  }

function eventsOf(): TransformStream<string, string> {
  let held = ''
  let isJson: boolean | null = null
  const event = (line: string): string => {
    if (isJson) return `data: ${line}\n`
    return /^data: ?\[DONE\]/.test(line) ? `data: {"is_done":true}\n\n${line}\n` : `${line}\n`
  }
  return new TransformStream({
    transform(text, controller) {
      held += text
      if (isJson === null && held.trim() !== '') isJson = held.trimStart().startsWith('{')
      const lines = held.split('\n')
      held = lines.pop() ?? ''
      if (lines.length > 0) controller.enqueue(lines.map(event).join(''))
    },
    flush(controller) {
      controller.enqueue(`${event(held)}\n`)
    },
  })
}
