/** Events of the Responses interface, as the `openai` package types them. */
let sequence = 0

const event = (type: string, told: object) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence++, ...told })}\n\n`

const usage = { input_tokens: 7, output_tokens: 3, total_tokens: 10 }
const response = (status: string, more: object = {}) => ({
  response: { id: 'resp_1', object: 'response', status, output: [], incomplete_details: null, usage: null, ...more },
})
const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }

/** How an answer begins: all of this is no text. */
export const opening =
  event('response.created', response('in_progress')) +
  event('response.in_progress', response('in_progress')) +
  event('response.output_item.added', { output_index: 0, item: { id: 'msg_1', type: 'message', content: [] } })

export const says = (...words: string[]) =>
  words.map((delta) => event('response.output_text.delta', { ...place, delta, logprobs: [] })).join('')

export const refuses = (delta: string) => event('response.refusal.delta', { ...place, delta })

export const cites = (annotation: unknown, annotation_index = 0) =>
  event('response.output_text.annotation.added', { ...place, annotation, annotation_index })

/** A call as it comes: begun, in pieces, and whole. */
export function calls(output_index: number, call: { id: string; name: string; arguments: string }): string {
  const item = { id: `fc_${output_index}`, type: 'function_call', call_id: call.id, name: call.name }
  return (
    event('response.output_item.added', { output_index, item: { ...item, arguments: '', status: 'in_progress' } }) +
    event('response.function_call_arguments.delta', { item_id: item.id, output_index, delta: call.arguments }) +
    event('response.function_call_arguments.done', { item_id: item.id, output_index, ...call }) +
    event('response.output_item.done', { output_index, item: { ...item, arguments: call.arguments } })
  )
}

export const searches = ['in_progress', 'searching', 'completed']
  .map((state) => event(`response.web_search_call.${state}`, { item_id: 'ws_1', output_index: 0 }))
  .join('')

export const completed = (more: object = { usage }) => event('response.completed', response('completed', more))
export const incomplete = (reason?: string) =>
  event('response.incomplete', response('incomplete', { incomplete_details: reason ? { reason } : null, usage }))
export const failed = (message: string) =>
  event('response.failed', response('failed', { error: { code: 'server_error', message } }))
export const error = (message: string) => event('error', { code: 'server_error', message, param: null })

export const whole = (...words: string[]) => opening + says(...words) + completed()
