import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openaiModel } from '#server/ports/model/openai'
import type { Part, Question } from '#server/ports/model/port'
import { delta, done, finish, openModelServer, says, texts, usage } from '#test/support/model-server'

let server: Awaited<ReturnType<typeof openModelServer>>
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())

const question: Question = {
  turns: [{ role: 'user', content: 'A train to Rome?' }],
  maxOutputTokens: 2048,
  temperature: 0.7,
  webSearch: false,
}

async function told(stream: string, type?: string) {
  server.behave(says(stream, type))
  const model = openaiModel({ baseUrl: server.url, apiKey: 'k', model: 'm' }, { idleMilliseconds: 20_000 })
  const parts: Part[] = []
  const error = await (async () => {
    for await (const part of model.answer(question, new AbortController().signal)) parts.push(part)
  })().then(
    () => null,
    (error: unknown) => error,
  )
  return {
    text: parts.reduce((text, part) => {
      if (part.type === 'unsaid') return text.slice(0, text.length - part.length)
      return part.type === 'text' ? text + part.text : text
    }, ''),
    calls: parts.flatMap((part) => (part.type === 'call' ? [part.call] : [])),
    reason: parts.flatMap((part) => (part.type === 'end' ? [part.reason] : []))[0] ?? null,
    callsInText: parts.flatMap((part) => (part.type === 'end' ? [part.callsInText ?? 0] : []))[0] ?? 0,
    error,
  }
}

const chunk = (told: object) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', ...told })}\n\n`
const choice = (told: object) => chunk({ choices: [{ index: 0, ...told }] })
const calls = (...tool_calls: object[]) => delta({ tool_calls })
const named = (name: string, given: unknown, more = {}) => ({ ...more, function: { name, arguments: given } })
const rome = { name: 'find_train', arguments: '{"city":"Rome"}' }

/** How each server writes an answer, and how it asks for the same tool. */
const dialects: Record<string, { text: string; tool: string }> = {
  OpenAI: {
    text: delta({ role: 'assistant', content: '', refusal: null }) + texts('At ', 'noon') + finish() + usage + done,
    tool:
      calls({ index: 0, id: 'call_a', type: 'function', ...named('find_train', '') }) +
      calls({ index: 0, function: { arguments: '{"city":' } }) +
      calls({ index: 0, function: { arguments: '"Rome"}' } }) +
      finish('tool_calls') +
      done,
  },
  Mistral: {
    text:
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'When?' }] }] }) +
      delta({ content: [{ type: 'text', text: 'At ' }, 'noo', { type: 'reference', reference_ids: [1] }] }) +
      delta({ content: 'n' }, 'stop') +
      done,
    tool:
      delta(
        { content: '', tool_calls: [named('find_train', '{"city":"Rome"}', { id: 'Xk3j', index: 0 })] },
        'tool_calls',
      ) + done,
  },
  Ollama: {
    text: texts('<think>\nWhen?\n</think>\n\nAt ', 'noon') + finish() + done,
    tool: calls(named('find_train', { city: 'Rome' }, { id: 'call_9', index: 0 })) + finish('stop') + done,
  },
  vLLM: {
    text:
      delta({ role: 'assistant', content: '' }) +
      delta({ reasoning_content: 'When?' }) +
      texts('At noon') +
      choice({ delta: {}, finish_reason: 'stop', stop_reason: null }) +
      done,
    tool:
      calls({ index: 0, id: 'chatcmpl-tool-1', type: 'function' }) +
      calls({ index: 0, function: { name: 'find_train' } }) +
      calls({ index: 0, function: { arguments: '{"city":"Rome"}' } }) +
      finish('tool_calls') +
      done,
  },
  'llama.cpp': {
    text:
      choice({ delta: { role: 'assistant', content: null } }) +
      texts('At noon') +
      choice({ delta: {}, finish_reason: 'stop', timings: { predicted_n: 3 } }) +
      done,
    tool: calls(named('find_train', '{"city":"Rome"}', { index: '0', id: 'a' })) + finish('tool_calls') + done,
  },
  DeepSeek: {
    text:
      delta({ role: 'assistant', content: null, reasoning_content: '' }) +
      delta({ content: null, reasoning_content: 'When?' }) +
      texts('At noon') +
      finish() +
      done,
    tool:
      calls({ index: 0, id: 'call_0_a', type: 'function', ...named('find_train', '') }) +
      calls({ index: 0, function: { arguments: '{"city":"Rome"}' } }) +
      delta({ content: '' }, 'tool_calls') +
      done,
  },
  'the door of Gemini': {
    text:
      delta({ role: 'assistant', content: 'At ' }) +
      choice({ delta: { content: 'noon' }, finish_reason: 'STOP' }) +
      done,
    tool:
      calls(named('find_train', '{"city":"Rome"}', { index: 0, id: 'function-call-1', type: 'function' })) +
      finish('stop') +
      done,
  },
  'the door of Anthropic': {
    text: texts('At ', 'noon') + finish('end_turn') + done,
    tool:
      calls({ index: 0, id: 'toolu_1', ...named('find_train', '') }) +
      calls({ index: 0, function: { arguments: '{"city":"Rome"}' } }) +
      finish('tool_use') +
      done,
  },
  'a server that streams no tools': {
    text: choice({ message: { role: 'assistant', content: 'At noon' }, finish_reason: 'stop' }) + done,
    tool: choice({ message: { tool_calls: named('find_train', { city: 'Rome' }) }, finish_reason: 'stop' }) + done,
  },
  'a server that asks for one function': {
    text: choice({ delta: { content: 'At noon', function_call: null }, finish_reason: 'stop' }) + done,
    tool:
      delta({ role: 'assistant', content: null, function_call: { name: 'find_train', arguments: '' } }) +
      delta({ function_call: { arguments: '{"city":' } }) +
      delta({ function_call: { arguments: '"Rome"}' } }) +
      finish('function_call') +
      done,
  },
  'a server of completions': {
    text: choice({ text: 'At ', finish_reason: null }) + choice({ text: 'noon', finish_reason: 'stop' }) + done,
    tool:
      choice({ text: '', message: { function_call: named('find_train', { city: 'Rome' }).function } }) +
      finish() +
      done,
  },
  'a server that names no reason': {
    text: texts('At ').replace('null', '""') + choice({ delta: { content: 'noon' }, finish_reason: '' }) + done,
    tool: calls(named('find_train', '{"city":"Rome"}', { id: 'a' })) + finish('') + done,
  },
  'a server that sends a part as an object, and a name in pieces': {
    text: delta({ content: { type: 'text', text: 'At ' } }) + delta({ content: { text: 'noon' } }) + finish() + done,
    tool:
      calls({ index: 0, id: 'a', function: { name: 'find_', arguments: '' } }) +
      calls({ index: 0, function: { name: 'train' } }) +
      calls({ index: 0, function: { name: 'find_train', arguments: '{"city":' } }) +
      calls({ index: 0, function: { name: 'find_train', arguments: '"Rome"}' } }) +
      finish('tool_calls') +
      done,
  },
  'a server that does not stream': {
    text: JSON.stringify({ choices: [{ message: { role: 'assistant', content: 'At noon' }, finish_reason: 'stop' }] }),
    tool: `\n${JSON.stringify({ choices: [{ message: { tool_calls: [named('find_train', { city: 'Rome' })] }, finish_reason: 'tool_calls' }] }, null, 2)}\r\n`,
  },
}

describe.each(Object.entries(dialects))('O21: %s', (_who, { text, tool }) => {
  test('is read', async () => {
    expect(await told(text)).toEqual({ text: 'At noon', calls: [], reason: 'stop', callsInText: 0, error: null })
  })
  test('asks for a tool', async () => {
    const { calls, reason, error } = await told(tool)
    expect({ calls, reason, error }).toEqual({
      calls: [{ id: expect.any(String), ...rome }],
      reason: 'calls',
      error: null,
    })
  })
})

test.each([
  ['the same index for all', calls(named('f', '{}', { index: 0, id: 'a' }), named('g', '{}', { index: 0, id: 'b' }))],
  ['neither id nor index', calls(named('f', {}), named('g', {}))],
  [
    'their pieces by turns',
    calls({ index: 0, id: 'a', ...named('f', '{') }, { index: 1, id: 'b', ...named('g', '{') }) +
      calls({ index: 1, function: { arguments: '}' } }, { index: 0, function: { arguments: '}' } }),
  ],
])('O21: several calls have %s', async (_what, pieces) => {
  expect((await told(pieces + finish('tool_calls') + done)).calls).toMatchObject([
    { name: 'f', arguments: '{}' },
    { name: 'g', arguments: '{}' },
  ])
})

test.each([
  ['length', 'length'],
  ['MAX_TOKENS', 'length'],
  ['model_length', 'length'],
  ['SAFETY', 'filtered'],
  ['content_filter: PROHIBITED_CONTENT', 'filtered'],
  ['refusal', 'filtered'],
  ['something new', 'stop'],
])('O21: an end by %s is one by %s', async (said, reason) => {
  expect(await told(texts('a') + finish(said) + done)).toMatchObject({ text: 'a', reason, error: null })
})

const failed = { code: 'UPSTREAM_ERROR', details: { failure: 'MODEL_UNAVAILABLE' } }
test.each([
  ['error', texts('half of') + finish('error') + done],
  ['abort', texts('half of') + finish('abort') + done],
  ['insufficient_system_resource', texts('half of') + finish('insufficient_system_resource') + done],
  ['an error with a status', texts('half of') + chunk({ error: { code: 502, message: 'Provider error' } })],
  ['an error as a chunk', texts('half of') + chunk({ object: 'error', message: 'Engine is dead', code: 500 })],
])('O21: an answer that ends by %s can be asked again', async (_how, stream) => {
  expect(await told(stream)).toMatchObject({ reason: null, error: failed })
})

test.each([
  ['nothing', texts('half of')],
  ['[DONE] without a reason', texts('half of') + done],
  ['an empty reason and nothing', texts('half of') + finish('')],
  ['an empty reason before a word is missing', texts('half of').replace('null', '""')],
  ['[DONE] before a word', delta({ role: 'assistant', content: '' }) + done],
])('O97: an answer that ends by %s broke off without a reason', async (_how, stream) => {
  const { reason, error } = await told(stream)
  expect({ reason, error }).toMatchObject({ reason: null, error: { code: 'UPSTREAM_ERROR' } })
  expect(error).toHaveProperty('details', undefined)
})

test('O20: an answer that is thought alone has no words', async () => {
  expect(await told(texts('<thi', 'nk>They ', 'want</th', 'ink>') + finish() + done)).toMatchObject({
    text: '',
    reason: 'stop',
  })
  expect(await told(texts('<think>They want') + finish('length') + done)).toMatchObject({ text: '', reason: 'length' })
})

test.each([
  ['MODEL_BUSY', 'overloaded'],
  ['MODEL_BUSY', 'Rate limit reached'],
  ['CONTEXT_TOO_LONG', 'context_length_exceeded'],
  [null, 'It broke'],
])('O21: an error is %s, as an object and as a text, within a stream and beside it', async (failure, message) => {
  for (const error of [message, { message }])
    for (const stream of [chunk({ error }), texts('half of') + chunk({ error }), JSON.stringify({ error })]) {
      const { error: refusal } = await told(stream)
      expect(refusal).toMatchObject({ code: 'UPSTREAM_ERROR' })
      expect(refusal).toHaveProperty('details', failure === null ? undefined : { failure })
    }
})

test('O20: what was said before a thought ends is taken back', async () => {
  const { text } = await told(texts('They ', 'want</thi', 'nk>A ', 'fox') + finish() + done)
  expect(text).toBe('A fox')
})

test('O20: a call of a tool that comes as text is not shown, not carried out, and counted', async () => {
  const stream = texts('I look.\n<tool', '_call>\n{"name": "find_', 'train"}\n</tool_', 'call>') + finish() + done
  expect(await told(stream)).toEqual({ text: 'I look.\n', calls: [], reason: 'stop', callsInText: 1, error: null })
})
