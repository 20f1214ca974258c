import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openaiResponses } from '#server/ports/model/openai-responses'
import type { Part, Question } from '#server/ports/model/port'
import { answers, begin, hangsAfter, openModelServer, says } from '#test/support/model-server'
import * as told from '#test/support/responses-events'

let server: Awaited<ReturnType<typeof openModelServer>>
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())

const heard = (['log', 'info', 'warn', 'error', 'debug'] as const).map((level) => vi.spyOn(console, level))
afterEach(() => {
  for (const spy of heard) expect(spy).not.toHaveBeenCalled()
})

const question: Question = {
  turns: [
    { role: 'system', content: 'You are Fox.' },
    { role: 'user', content: 'Hello' },
  ],
  maxOutputTokens: 2048,
  temperature: 0.7,
  webSearch: false,
}
const key = 'sk-canary-of-the-key'
const patient = { idleMilliseconds: 20_000, closingMilliseconds: 500, totalMilliseconds: 50_000, retryMilliseconds: 5 }
const opened = (patience = {}) =>
  openaiResponses({ baseUrl: server.url, apiKey: key, model: 'm-1' }, { ...patient, ...patience })
const find = { name: 'find', description: 'Finds.', parameters: { type: 'object', properties: {} } }

async function ask(model = opened(), asked: Partial<Question> = {}, signal = new AbortController().signal) {
  const parts: Part[] = []
  let error: unknown = null
  try {
    for await (const part of model.answer({ ...question, ...asked }, signal)) parts.push(part)
  } catch (thrown) {
    error = thrown
    expect(JSON.stringify([thrown, String((thrown as Error).cause)])).not.toContain(key)
  }
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts.flatMap((part) => (part.type === 'call' ? [part.call] : [])),
    sources: parts.flatMap((part) => (part.type === 'source' ? [`${part.title} ${part.url}`] : [])),
    end: parts.find((part) => part.type === 'end') ?? null,
    error,
  }
}

describe('an answer by the Responses interface', () => {
  test('is asked for with the turns, the bounds and the key, is kept by no provider, and told with what it cost', async () => {
    server.behave(says(told.whole('Hel', 'lo')))
    expect(await ask()).toEqual({
      text: 'Hello',
      calls: [],
      sources: [],
      end: { type: 'end', reason: 'stop', inputTokens: 7, outputTokens: 3 },
      error: null,
    })
    const [request] = server.asked
    expect(request?.path).toBe('/v1/responses')
    expect(request?.headers.authorization).toBe(`Bearer ${key}`)
    expect(request?.body).toEqual({
      model: 'm-1',
      input: question.turns,
      max_output_tokens: 2048,
      temperature: 0.7,
      store: false,
      stream: true,
    })
  })

  test('is grounded in a search where the agent may search, and names its pages, each once', async () => {
    const page = (at: number) => ({
      type: 'url_citation',
      url: `https://fox.example.com/${at}`,
      title: `Fox ${at}`,
      start_index: 0,
      end_index: 5,
    })
    const junk = [7, null, { type: 'file_citation', file_id: 'f', filename: 'a', index: 0 }]
    server.behave(
      says(
        told.opening +
          told.searches +
          told.says('A fox.') +
          [page(1), page(1), ...junk, page(2)].map(told.cites).join('') +
          told.completed(),
      ),
    )
    const { text, sources, end } = await ask(opened(), { webSearch: true, tools: [find] })
    expect({ text, sources, end }).toMatchObject({
      text: 'A fox.',
      sources: ['Fox 1 https://fox.example.com/1', 'Fox 2 https://fox.example.com/2'],
      end: { reason: 'stop' },
    })
    await ask()
    expect(server.asked.map(({ body }) => body.tools)).toEqual([
      [{ type: 'function', ...find, strict: false }, { type: 'web_search' }],
      undefined,
    ])
  })

  test('asks for tools by their schema, and is told what they answered', async () => {
    const [a, b] = [
      { id: 'call_a', name: 'find', arguments: '{"q":"fox"}' },
      { id: 'call_b', name: 'time', arguments: '{"a"' },
    ]
    server.behave(says(told.opening + told.calls(1, a) + told.calls(2, b) + told.completed()), says(told.whole('Yes.')))
    const { calls, end } = await ask(opened(), { tools: [find] })
    expect({ calls, end }).toMatchObject({ calls: [a, b], end: { reason: 'calls' } })
    await ask(opened(), { tools: [find], called: [{ call: a, result: 'found' }] })
    expect(server.asked[1]?.body.input?.slice(2)).toEqual([
      { type: 'function_call', call_id: 'call_a', name: 'find', arguments: '{"q":"fox"}' },
      { type: 'function_call_output', call_id: 'call_a', output: 'found' },
    ])
  })

  test('is told where the model refuses, in its words', async () => {
    server.behave(says(told.opening + told.refuses('I cannot.') + told.completed()))
    expect(await ask()).toMatchObject({ text: 'I cannot.', end: { reason: 'stop' } })
  })

  test('is asked for again without what the server refuses, once and for all; a search only where nothing else was offered', async () => {
    const refuses = (param: string) => answers(400, { error: { message: 'Unsupported', param } })
    server.behave(refuses('temperature'), refuses('tools[0].type'), says(told.whole('a')))
    const model = opened()
    expect((await ask(model, { webSearch: true })).text).toBe('a')
    expect((await ask(model, { webSearch: true })).text).toBe('a')
    expect(server.asked).toHaveLength(4)
    expect(Object.keys(server.asked[3]?.body ?? {}).sort()).toEqual([
      'input',
      'max_output_tokens',
      'model',
      'store',
      'stream',
    ])
    server.behave(refuses('tools[0].parameters'), says(told.whole('a')))
    expect((await ask(opened(), { webSearch: true, tools: [find] })).error).toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})

describe('an answer by the Responses interface that is not whole', () => {
  test.each([
    ['max_output_tokens', 'length'],
    ['content_filter', 'filtered'],
  ])('says so where it is incomplete by %s, and asks for no tool', async (why, reason) => {
    const call = { id: 'call_a', name: 'find', arguments: '{}' }
    server.behave(says(told.opening + told.says('half of') + told.calls(1, call) + told.incomplete(why)))
    expect(await ask()).toMatchObject({
      text: 'half of',
      calls: [],
      end: { reason, inputTokens: 7, outputTokens: 3 },
      error: null,
    })
  })

  const half = told.opening + told.says('half of')
  test.each([
    ['the stream ends without response.completed', says(half)],
    ['the stream is done without response.completed', says(`${half}data: [DONE]\n\n`)],
    [
      'the connection drops',
      (response: Parameters<typeof begin>[0]) => {
        begin(response).write(half, () => response.destroy())
      },
    ],
    ['an event of the stream is an error', says(half + told.error(`overloaded ${key}`) + told.completed())],
    [
      'an error stands in the stream as other servers write it',
      says(`${half}data: {"error":{"message":"${key}"}}\n\n`),
    ],
    ['the response failed', says(half + told.failed(`overloaded ${key}`))],
    ['it is incomplete without a reason', says(half + told.incomplete())],
    ['it is incomplete by a reason that nobody knows', says(half + told.incomplete('whim'))],
    ['an event is no event', says(`${half}data: [1]\n\n`)],
    ['text is a number', says(`${half}data: {"type":"response.output_text.delta","delta":42}\n\n`)],
  ])('is an error where %s', async (_how, behaviour) => {
    server.behave(behaviour)
    const { text, end, error } = await ask()
    expect({ text, end, error }).toMatchObject({ text: 'half of', end: null, error: { code: 'UPSTREAM_ERROR' } })
    expect(server.asked).toHaveLength(1)
  })

  test('is an error where a call has no name, is longer than any, or one of very many', async () => {
    const call = (at: number, given = '{}') => told.calls(at, { id: `call_${at}`, name: 'f', arguments: given })
    for (const sent of [
      call(0).replaceAll('"name":"f"', '"name":null'),
      call(0, 'x'.repeat(100_000)),
      Array.from({ length: 100 }, (_, at) => call(at)).join(''),
    ]) {
      server.behave(says(told.opening + sent + told.completed()))
      expect((await ask()).error).toMatchObject({ code: 'UPSTREAM_ERROR' })
    }
  })

  test.each([
    ['never begins', () => {}, ''],
    ['hangs in the midst of it', hangsAfter(half), 'half of'],
  ])('is a TIMEOUT where the server %s, and it sees the end of its request', async (_how, behaviour, text) => {
    server.behave(behaviour)
    expect(await ask(opened({ idleMilliseconds: 1_000 }))).toMatchObject({
      text,
      end: null,
      error: { code: 'TIMEOUT' },
    })
    await server.asked.at(-1)?.dropped
  })

  test('throws the reason of the asker who aborts, and the provider sees the end of its request', async () => {
    server.behave(hangsAfter(half))
    const controller = new AbortController()
    const reason = new Error('cancelled by its owner')
    const asking = ask(opened(), {}, controller.signal)
    await expect.poll(() => server.asked.length).toBe(1)
    setTimeout(() => controller.abort(reason), 30)
    const { end, error } = await asking
    expect({ end, error }).toEqual({ end: null, error: reason })
    await server.asked[0]?.dropped
  })
})

describe('a response that failed within its stream', () => {
  test.each([
    ['MODEL_BUSY', { code: 'rate_limit_exceeded' }],
    ['MODEL_UNAVAILABLE', { code: 'server_error' }],
    ['QUESTION_REFUSED', { code: 'invalid_prompt' }],
    [undefined, {}],
    [undefined, null],
  ])('fails by %s where it says %j', async (failure, error) => {
    const failed = { type: 'response.failed', response: { error } }
    server.behave(says(`event: response.failed\ndata: ${JSON.stringify(failed)}\n\n`))
    expect((await ask()).error).toMatchObject({ code: 'UPSTREAM_ERROR', ...(failure ? { details: { failure } } : {}) })
  })
})

describe('a server of the Responses interface', () => {
  test.each([
    ['is busy once', answers(429, { error: { message: key } }, { 'retry-after': '0' })],
    ['fails once', answers(500, 'no')],
  ])('is asked again where it %s', async (_how, behaviour) => {
    server.behave(behaviour, says(told.whole('a')))
    expect(await ask()).toMatchObject({ text: 'a', error: null })
    expect(server.asked).toHaveLength(2)
  })

  test('is cut off where it floods, as an answer of the greatest length', async () => {
    server.behave((response) => {
      const timer = setInterval(() => response.write(told.says('x'.repeat(1_000))), 1)
      begin(response).once('close', () => clearInterval(timer))
    })
    const { text, end } = await ask(opened(), { maxOutputTokens: 100 })
    expect({ length: text.length, end }).toMatchObject({ length: 1_600, end: { reason: 'length' } })
    await server.asked[0]?.dropped
  })

  test.each([
    ['leaves the connection open after the end', hangsAfter(told.opening + told.says('a') + told.completed({}))],
    ['goes on after the end', says(told.opening + told.says('a') + told.completed({}) + told.says('b'))],
    ['tells a usage that makes no sense', says(told.says('a') + told.completed({ usage: { input_tokens: -1 } }))],
    ['tells an error after the end', says(told.says('a') + told.completed({}) + told.error('late'))],
  ])('has answered where it %s', async (_how, behaviour) => {
    server.behave(behaviour)
    expect(await ask()).toMatchObject({
      text: 'a',
      end: { reason: 'stop', inputTokens: null, outputTokens: null },
      error: null,
    })
  })
})
