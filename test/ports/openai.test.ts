import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { openaiModel } from '#server/ports/model/openai'
import type { Part, Question } from '#server/ports/model/port'
import type { AppError } from '#shared/errors'
import { heavy } from '#test/support/heavy'
import {
  answers,
  begin,
  delta,
  done,
  finish,
  hangsAfter,
  openModelServer,
  says,
  texts,
  usage,
  whole,
} from '#test/support/model-server'
import { reclaimMemory } from '#test/support/reclaim-memory'

let server: Awaited<ReturnType<typeof openModelServer>>
beforeAll(async () => {
  server = await openModelServer()
})
afterAll(() => server.close())

const spoken = ['log', 'info', 'warn', 'error', 'debug'] as const
const heard = spoken.map((level) => vi.spyOn(console, level))
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
  webSearch: true,
}
const patient = { idleMilliseconds: 20_000, closingMilliseconds: 500, totalMilliseconds: 50_000, retryMilliseconds: 5 }
const key = 'sk-canary-of-the-key'
const opened = (patience = {}) =>
  openaiModel({ baseUrl: server.url, apiKey: key, model: 'm-1' }, { ...patient, ...patience })

interface Outcome {
  text: string
  calls: unknown[]
  sources: string[]
  end: (Part & { type: 'end' }) | null
  error: unknown
}

async function ask(model = opened(), asked: Partial<Question> = {}, signal = new AbortController().signal) {
  const outcome: Outcome = { text: '', calls: [], sources: [], end: null, error: null }
  try {
    for await (const part of model.answer({ ...question, ...asked }, signal)) {
      expect(outcome.end).toBeNull()
      if (part.type === 'text') outcome.text += part.text
      else if (part.type === 'call') outcome.calls.push(part.call)
      else if (part.type === 'source') outcome.sources.push(`${part.title} ${part.url}`)
      else if (part.type === 'unsaid') outcome.text = outcome.text.slice(0, outcome.text.length - part.length)
      else outcome.end = part
    }
  } catch (error) {
    outcome.error = error
    expect(JSON.stringify([error, String((error as Error).cause)])).not.toContain(key)
  }
  return outcome
}

describe('an answer of an OpenAI-compatible server', () => {
  test('is asked for with the turns, the bounds and the key, and told in parts with what it cost', async () => {
    server.behave(says(whole('Hel', 'lo')))
    const { text, end } = await ask()
    expect({ text, end }).toEqual({
      text: 'Hello',
      end: { type: 'end', reason: 'stop', inputTokens: 7, outputTokens: 3 },
    })
    const [request] = server.asked
    expect(request?.path).toBe('/v1/chat/completions')
    expect(request?.headers.authorization).toBe(`Bearer ${key}`)
    expect(request?.body).toEqual({
      model: 'm-1',
      messages: question.turns,
      max_tokens: 2048,
      temperature: 0.7,
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  describe('that was grounded in a search names its pages', () => {
    const cited = (url: string, title?: string) => ({
      type: 'url_citation',
      url_citation: { start_index: 0, end_index: 3, url, ...(title ? { title } : {}) },
    })
    const [fox, hen] = ['https://fox.example.com/', 'https://hen.example.com/']

    test('as annotations of the text, each once, also after the last word', async () => {
      server.behave(
        says(
          texts('A fox.') +
            delta({ annotations: [cited(fox, 'Foxes'), cited(fox, 'Again')] }) +
            delta({ content: '', annotations: [cited(hen)] }, 'stop') +
            usage +
            done,
        ),
      )
      const { text, sources, end } = await ask()
      expect({ text, sources, reason: end?.reason }).toEqual({
        text: 'A fox.',
        sources: [`Foxes ${fox}`, ` ${hen}`],
        reason: 'stop',
      })
    })

    test('as lists of the chunk, which come with each of them', async () => {
      const line = (content: string, finish_reason: string | null = null) =>
        `data: ${JSON.stringify({
          choices: [{ index: 0, delta: { content }, finish_reason }],
          citations: [fox, hen],
          search_results: [{ title: 'Foxes', url: fox, date: null }],
        })}\n\n`
      server.behave(says(line('A ') + line('fox.', 'stop') + done))
      const { text, sources } = await ask()
      expect({ text, sources }).toEqual({ text: 'A fox.', sources: [`Foxes ${fox}`, ` ${hen}`] })
    })

    test('and what is no list of pages takes nothing from the text', async () => {
      server.behave(
        says(
          delta({ content: 'A ', annotations: 'none' }) +
            delta({ content: 'fox', annotations: [7, null, { type: 'url_citation' }, { type: 'file_path' }] }) +
            delta({ content: '.', annotations: Array.from({ length: 30 }, (_, at) => cited(`${fox}${at}`)) }) +
            finish() +
            done,
        ),
      )
      const { text, sources, error } = await ask()
      expect({ text, sources: sources.length, error }).toEqual({ text: 'A fox.', sources: 20, error: null })
    })
  })

  test('asks for tools by their schema, in pieces, and is told what they answered', async () => {
    const piece = (index: number, told: object, id?: string) => delta({ tool_calls: [{ index, id, function: told }] })
    server.behave(
      says(
        piece(0, { name: 'find', arguments: '{"q":' }, 'a') +
          piece(1, { name: 'time', arguments: '' }, 'b') +
          piece(0, { arguments: '"fox"}' }) +
          finish('tool_calls') +
          done,
      ),
      says(whole('It is a fox.')),
    )
    const find = { name: 'find', description: 'Finds.', parameters: { type: 'object', properties: {} } }
    const { calls, end } = await ask(opened(), { tools: [find] })
    expect(calls).toEqual([
      { id: 'a', name: 'find', arguments: '{"q":"fox"}' },
      { id: 'b', name: 'time', arguments: '' },
    ])
    expect(end?.reason).toBe('calls')
    const call = { id: 'a', name: 'find', arguments: '{"q":"fox"}' }
    expect((await ask(opened(), { tools: [find], called: [{ call, result: 'found' }] })).text).toBe('It is a fox.')
    expect(server.asked.map(({ body }) => body.tools)).toEqual([
      [{ type: 'function', function: find }],
      [{ type: 'function', function: find }],
    ])
    expect(server.asked[1]?.body.messages?.slice(2)).toEqual([
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'find', arguments: '{"q":"fox"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'found' },
    ])
  })

  test('is asked for again without a parameter that the server refuses, once and for all', async () => {
    const refuses = (param: string) =>
      answers(400, { error: { message: 'Unsupported', code: 'unsupported_parameter', param } })
    server.behave(refuses('max_tokens'), refuses('temperature'), says(whole('a')))
    const model = opened()
    expect((await ask(model)).text).toBe('a')
    expect((await ask(model)).text).toBe('a')
    expect(server.asked).toHaveLength(4)
    expect(server.asked[3]?.body).toMatchObject({ max_completion_tokens: 2048 })
    expect(Object.keys(server.asked[3]?.body ?? {})).not.toEqual(expect.arrayContaining(['temperature']))
    server.behave(refuses('messages'), says(whole('a')))
    expect((await ask()).error).toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})

describe('an answer that is not whole is an error, never a short answer', () => {
  const dropped = async () => {
    server.behave((response) => {
      begin(response).write(texts('half of'), () => response.destroy())
    })
    return ask()
  }
  const ended = async () => {
    server.behave(says(texts('half of')))
    return ask()
  }
  const doneWithoutReason = async () => {
    server.behave(says(texts('half of') + done))
    return ask()
  }
  test.each([
    ['the connection drops', dropped],
    ['the stream ends cleanly', ended],
    ['the stream is done without a reason', doneWithoutReason],
  ])('where %s', async (_how, outcome) => {
    const { text, end, error } = await outcome()
    expect({ text, end, error }).toMatchObject({ text: 'half of', end: null, error: { code: 'UPSTREAM_ERROR' } })
  })

  test('where the asker aborts: it throws that reason, and the provider sees the end of its request', async () => {
    server.behave(hangsAfter(texts('half of')))
    const controller = new AbortController()
    const reason = new Error('cancelled by its owner')
    const asking = ask(opened(), {}, controller.signal)
    await expect.poll(() => server.asked.length).toBe(1)
    setTimeout(() => controller.abort(reason), 30)
    const { text, end, error } = await asking
    expect({ text, end, error }).toEqual({ text: 'half of', end: null, error: reason })
    await server.asked[0]?.dropped
  })

  test('where the asker aborts, nothing is told of what had arrived already', async () => {
    server.behave(says(whole(...Array<string>(500).fill('word '))))
    const controller = new AbortController()
    const told: Part[] = []
    const asking = (async () => {
      for await (const part of opened().answer(question, controller.signal))
        if (told.push(part) === 3) controller.abort(new Error('enough'))
    })()
    await expect(asking).rejects.toThrow('enough')
    expect(told).toHaveLength(3)
  })

  test('where who reads it stops reading, the provider sees the end of its request', async () => {
    server.behave(hangsAfter(texts('a', 'b')))
    for await (const part of opened().answer(question, new AbortController().signal)) if (part.type === 'text') break
    await server.asked[0]?.dropped
  })

  test('where the signal was aborted before, nothing is asked', async () => {
    server.behave(says(whole('a')))
    expect((await ask(opened(), {}, AbortSignal.abort(new Error('gone')))).error).toMatchObject({ message: 'gone' })
    expect(server.asked).toEqual([])
  })
})

describe('a server that misbehaves', () => {
  const busy = answers(429, { error: { message: `Slow down, ${key}` } }, { 'retry-after': '0' })
  test.each([
    ['is busy twice', [busy, busy, says(whole('a'))], 3],
    ['fails once', [answers(500, 'no'), says(whole('a'))], 2],
    ['closes the connection once', [(response: { destroy(): void }) => response.destroy(), says(whole('a'))], 2],
  ] as const)('is asked again where it %s', async (_how, behaviours, requests) => {
    server.behave(...behaviours)
    const { text, error } = await ask()
    expect({ text, error }).toEqual({ text: 'a', error: null })
    expect(server.asked).toHaveLength(requests)
  })

  test.each([
    ['is busy for longer than anybody waits', answers(429, {}, { 'retry-after': '3600' }), 1],
    ['stays busy', busy, 3],
    ['keeps failing', answers(503, 'no'), 3],
    ['wants to be paid', answers(429, { error: { code: 'insufficient_quota', message: `Pay for ${key}` } }), 1],
    ['refuses the key', answers(401, { error: { message: `Incorrect API key: ${key}` } }), 1],
    ['does not know the model', answers(404, {}), 1],
    ['answers with a page', says('<html>Sign in</html>', 'text/html'), 1],
    ['answers with something else', answers(200, { ok: true }), 1],
    ['sends lines that are no JSON', says(`data: {"choices\n\ndata: junk ${key}\n\n`), 1],
    ['sends JSON that is no answer', says('data: [1]\n\ndata: null\n\n'), 1],
    ['sends text that is a number', says(delta({ content: 42 }) + finish()), 1],
    ['tells an error within the stream', says(`data: {"error":{"message":"overloaded ${key}"}}\n\n`), 1],
    ['ends without a byte', says(''), 1],
    ['cuts a character in two and ends', says(Buffer.from(texts('ü')).subarray(0, -20)), 1],
    ['sends elsewhere', answers(302, '', { location: 'http://127.0.0.1:9/' }), 3],
    ['sends a token of 10 MB', says(whole('x'.repeat(10_000_000))), 1],
    [
      'sends a call of 1 MB',
      says(
        delta({ tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: 'x'.repeat(1e6) } }] }) + finish(),
      ),
      1,
    ],
    [
      'sends a thousand calls without an index',
      says(
        Array.from({ length: 1000 }, (_, at) => delta({ tool_calls: [{ id: `${at}`, function: { name: 'f' } }] })).join(
          '',
        ) + finish(),
      ),
      1,
    ],
    [
      'sends a thousand calls',
      says(delta({ tool_calls: Array.from({ length: 1000 }, (_, index) => ({ index, id: `${index}` })) }) + finish()),
      1,
    ],
  ] as const)('is an UPSTREAM_ERROR where it %s', async (_how, behaviour, requests) => {
    server.behave(behaviour)
    const started = performance.now()
    const { end, error } = await ask()
    expect({ end, error }).toMatchObject({ end: null, error: { code: 'UPSTREAM_ERROR' } })
    expect(server.asked).toHaveLength(requests)
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  const fault = (status: number, error: object) => answers(status, { error: { message: `No: ${key}`, ...error } })
  const within = (error: object) => says(`data: ${JSON.stringify({ error })}\n\n`)
  test.each([
    ['MODEL_BUSY', 'stays busy', busy],
    ['MODEL_BUSY', 'is overloaded', fault(529, { type: 'overloaded_error' })],
    ['MODEL_BUSY', 'is busy within the stream', within({ code: 'rate_limit_exceeded', message: 'Slow down' })],
    ['MODEL_UNAVAILABLE', 'keeps failing', answers(503, 'no')],
    ['MODEL_UNAVAILABLE', 'closes the connection', (response: { destroy(): void }) => response.destroy()],
    ['MODEL_REFUSED', 'refuses the key', fault(401, { code: 'invalid_api_key' })],
    ['MODEL_REFUSED', 'does not know the model', answers(404, {})],
    ['MODEL_REFUSED', 'wants to be paid', fault(429, { code: 'insufficient_quota' })],
    ['MODEL_REFUSED', 'takes no such request', fault(400, { code: 'invalid_value' })],
    ['QUESTION_REFUSED', 'filters what is asked', fault(400, { code: 'content_filter' })],
    ['CONTEXT_TOO_LONG', 'finds it too long', fault(400, { code: 'context_length_exceeded' })],
    ['CONTEXT_TOO_LONG', 'says so', fault(400, { message: "This model's maximum context length is 4096 tokens" })],
    ['CONTEXT_TOO_LONG', 'takes no request of the length', answers(413, '')],
    [
      undefined,
      'breaks off',
      (response: Parameters<typeof begin>[0]) => void begin(response).write(texts('a'), () => response.destroy()),
    ],
    [undefined, 'fails in words that nobody knows', within({ code: 'odd', message: 'Odd' })],
  ] as const)('fails by %s where it %s', async (failure, _how, behaviour) => {
    server.behave(behaviour)
    const { error } = await ask()
    expect(error).toMatchObject({ code: 'UPSTREAM_ERROR' })
    expect((error as AppError).details?.failure).toBe(failure)
  })

  test.each([
    ['never begins', () => {}, ''],
    ['hangs in the midst of it', hangsAfter(texts('half of')), 'half of'],
    [
      'keeps the line busy with comments',
      (response: Parameters<typeof begin>[0]) => {
        const timer = setInterval(() => response.write(': ping\n\n'), 20)
        begin(response).once('close', () => clearInterval(timer))
      },
      '',
    ],
    [
      'never ends',
      (response: Parameters<typeof begin>[0]) => {
        const timer = setInterval(() => response.write(delta({})), 20)
        begin(response).once('close', () => clearInterval(timer))
      },
      '',
    ],
  ] as const)('is a TIMEOUT where it %s, and it sees the end of its request', heavy, async (how, behaviour, told) => {
    server.behave(behaviour)
    const { text, end, error } = await ask(
      opened(how === 'never ends' ? { totalMilliseconds: 400 } : { idleMilliseconds: 1_000 }),
    )
    expect({ text, end, error }).toMatchObject({ text: told, end: null, error: { code: 'TIMEOUT' } })
    await server.asked.at(-1)?.dropped
  })

  test.each([
    ['falls silent', { idleMilliseconds: 1_500 }, null, { code: 'TIMEOUT' }],
    ['is stopped by the asker', {}, 1_500, 'stopped'],
  ])(
    'is let go where it %s, also where memory is reclaimed meanwhile',
    heavy,
    async (_how, patience, stopsAfter, reason) => {
      onTestFinished(reclaimMemory())
      server.behave(hangsAfter(texts('half of')))
      const stop = new AbortController()
      if (stopsAfter) setTimeout(() => stop.abort('stopped'), stopsAfter)
      const { text, error } = await ask(opened(patience), {}, stop.signal)
      expect({ text, error }).toMatchObject({ text: 'half of', error: reason })
      await server.asked[0]?.dropped
    },
  )

  test('is cut off where it floods, as an answer of the greatest length', async () => {
    server.behave((response) => {
      const timer = setInterval(() => response.write(texts('x'.repeat(1_000))), 1)
      begin(response).once('close', () => clearInterval(timer))
    })
    const { text, end, error } = await ask(opened(), { maxOutputTokens: 100 })
    expect({ length: text.length, end, error }).toMatchObject({ length: 1_600, end: { reason: 'length' }, error: null })
    await server.asked[0]?.dropped
  })

  test.each([
    ['leaves the connection open after the reason', hangsAfter(texts('a') + finish())],
    [
      'drops the connection after the reason',
      (response: Parameters<typeof begin>[0]) => {
        begin(response).write(texts('a') + finish(), () => response.destroy())
      },
    ],
    ['tells no usage and is not done', says(texts('a') + finish())],
    [
      'tells a usage that makes no sense',
      says(`${texts('a') + finish()}data: {"usage":{"prompt_tokens":-1}}\n\n${done}`),
    ],
    ['says another content type', says(texts('a') + finish() + done, 'text/plain')],
    ['goes on after the reason', says(texts('a') + finish() + texts('b') + done)],
  ] as const)('has answered where it %s', async (_how, behaviour) => {
    server.behave(behaviour)
    const { text, end, error } = await ask()
    expect({ text, end, error }).toEqual({
      text: 'a',
      end: { type: 'end', reason: 'stop', inputTokens: null, outputTokens: null },
      error: null,
    })
  })

  test('has answered by its first answer where it gives another answer beside the one that was asked for', async () => {
    const other = (told: object, reason: string | null = null) =>
      `data: ${JSON.stringify({ choices: [{ index: 1, delta: told, finish_reason: reason }] })}\n\n`
    server.behave(
      says(texts('a') + other({ content: 'X' }) + other({}, 'stop') + texts('b') + finish('length') + usage + done),
    )
    const { text, end } = await ask()
    expect({ text, reason: end?.reason }).toEqual({ text: 'ab', reason: 'length' })
  })

  test.each([
    ['length', 'length'],
    ['content_filter', 'filtered'],
    ['eos', 'stop'],
    ['tool_calls', 'stop'],
  ])('and says that it ended by %s has ended by %s, also without text', async (said, reason) => {
    server.behave(says(finish(said) + usage + done))
    expect((await ask()).end).toEqual({ type: 'end', reason, inputTokens: 7, outputTokens: 3 })
  })

  test('may cut characters in two, in bytes and in halves of a pair', async () => {
    const bytes = Buffer.from(whole('für ', '🦊'))
    server.behave(async (response) => {
      begin(response)
      for (const byte of bytes) await new Promise((resolve) => response.write(Buffer.of(byte), resolve))
      response.end()
    })
    expect((await ask()).text).toBe('für 🦊')
    server.behave(says(whole('a \ud83e', '\udd8a b', ' \udd8a')))
    const parts: string[] = []
    for await (const part of opened().answer(question, new AbortController().signal))
      if (part.type === 'text') parts.push(part.text)
    expect(parts).toEqual(['a ', '🦊 b', ' \ufffd'])
  })

  test('may write arguments that are no JSON, name no index and no id, or cut a call off', async () => {
    const call = (told: object) => delta({ tool_calls: [told] })
    server.behave(
      says(call({ function: { name: 'f', arguments: '{"a"' } }) + call({ function: { arguments: ': ' } }) + finish()),
    )
    expect(await ask()).toMatchObject({
      calls: [{ id: 'call_0', name: 'f', arguments: '{"a": ' }],
      end: { reason: 'calls' },
    })
    server.behave(
      says(call({ id: 'a', function: { name: 'f' } }) + call({ id: 'b', function: { name: 'g' } }) + finish()),
    )
    expect((await ask()).calls).toMatchObject([{ name: 'f' }, { name: 'g' }])
    server.behave(says(call({ id: 'a', function: { name: 'f', arguments: '{"a"' } }) + finish('length')))
    expect(await ask()).toMatchObject({ calls: [], end: { reason: 'length' } })
  })
})
