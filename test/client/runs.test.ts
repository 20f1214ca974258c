import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { noAnswer } from '#client/sdk/failures'
import { applyFrames, newRun } from '#client/sdk/run-state'
import { runsOf } from '#client/sdk/runs'
import { memoryStorage } from '#client/sdk/storage'
import type { Client, ConnectionState } from '#client/sdk/types'
import type { FrameBody, RunFrame } from '#shared/api/agents/run-frames'
import { AppError } from '#shared/errors'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const run_id = 'run-1'
const framed = (...bodies: FrameBody[]) => bodies.map((body, idx) => ({ ...body, run_id, idx }) as RunFrame)
const agent = { id: 'agent-1', name: 'Ada', avatar_emoji: '🤖' }
const answer = framed(
  { t: 'start', agent, model: 'm', scripted: false, message_id: 'message-1' },
  { t: 'chunk', off: 0, text: 'Good ' },
  { t: 'tool', server: 's', name: 'look', state: 'running', ms: null },
  { t: 'tool', server: 's', name: 'look', state: 'done', ms: 12 },
  { t: 'chunk', off: 5, text: 'day' },
  { t: 'done', message: 'Good day', message_id: 'message-1', usage: {} as never, scheduling: null },
)

/** A server that has an answer up to `head`, and a client of it. */
function asking(frames: readonly RunFrame[] = answer, storage = memoryStorage()) {
  const server = {
    head: frames.length,
    asked: [] as string[],
    unanswered: 0,
    refusal: null as AppError | null,
    /** Its answer has ended, and its frames are kept no longer. */
    isForgotten: false,
  }
  const heard: ((frame: RunFrame) => void)[] = []
  const listeners: (() => void)[] = []
  const connection = {
    state: 'online' as ConnectionState,
    subscribe: (listener: () => void) => {
      listeners.push(listener)
      return () => undefined
    },
  }
  const agents = {
    async run({ client_run_id }: { client_run_id: string }) {
      server.asked.push(`run ${client_run_id}`)
      if (server.refusal) throw server.refusal
      if (server.unanswered-- > 0 || connection.state !== 'online') throw noAnswer()
      return { run_id, head_idx: 0 }
    },
    async chat() {
      server.asked.push('chat')
      return { run_id }
    },
    active: async () => ({ runs: [{ run_id, agent_id: agent.id, client_run_id: 'key', message: 'Hello?' }] }),
    async resume({ after_idx }: { after_idx: number }) {
      server.asked.push(`resume ${after_idx}`)
      if (server.unanswered-- > 0) throw noAnswer()
      if (server.isForgotten) return { state: 'done', frames: [], head_idx: -1, complete: true }
      return { state: 'running', frames: frames.slice(after_idx + 1, server.head), complete: true }
    },
    async *frames({ after_idx }: { after_idx: number }) {
      server.asked.push(`frames ${after_idx}`)
      if (server.isForgotten) return
      yield* frames.slice(after_idx + 1, server.head)
      throw noAnswer()
    },
    async cancel() {
      server.asked.push('cancel')
      if (connection.state !== 'online') throw noAnswer()
    },
  }
  const client = {
    agents,
    connection,
    account: 'ada',
    storage,
    session: { subscribe: () => () => undefined },
    on: (_event: unknown, listener: (frame: RunFrame) => void) => void heard.push(listener),
  } as unknown as Client
  const push = (...idxs: number[]) => {
    for (const idx of idxs) for (const hear of heard) hear(frames[idx] as RunFrame)
  }
  const become = (state: ConnectionState) => {
    connection.state = state
    for (const listener of listeners) listener()
  }
  return { server, runs: runsOf(client), push, become }
}
const settle = (milliseconds = 0) => vi.advanceTimersByTimeAsync(milliseconds)

test('pages that an answer rests on are kept, and a frame of a newer server is passed over', () => {
  const newer = { t: 'picture', url: 'https://fox.example.com/fox.png' } as unknown as FrameBody
  const page = { url: 'https://fox.example.com/', title: 'Foxes' }
  const frames = framed(newer, { t: 'source', ...page }, { t: 'chunk', off: 0, text: 'A fox' })
  const state = applyFrames(newRun('Hello?', run_id), frames)
  expect(state).toMatchObject({ status: 'running', text: 'A fox', sources: [page], idx: 2 })
})

test('chunks are put together by their offset, and a frame that comes twice changes nothing', () => {
  const begun = newRun('Hello?', run_id)
  const state = applyFrames(begun, [...answer.slice(0, 3), ...answer.slice(1, 4), ...answer])
  expect(state).toMatchObject({ status: 'done', text: 'Good day', idx: 5, phase: null })
  expect(state.tools).toEqual([{ server: 's', name: 'look', state: 'done', ms: 12 }])
  expect(applyFrames(begun, answer.slice(1))).toBe(begun)
})

test('of an answer whose node was lost the text that is kept is shown, also where more was told', async () => {
  const lost = {
    t: 'error',
    code: 'RUN_LOST',
    text: 'Lost',
    partial_message_id: 'message-1',
    message: 'Good ',
  } as const
  const { runs, push, become } = asking([...answer.slice(0, 5), { ...lost, run_id, idx: 5 }])
  const run = runs.ask(agent.id, 'Hello?')
  await settle()
  push(0, 1, 2, 3, 4)
  expect(run.state.text).toBe('Good day')
  become('connecting')
  become('online')
  await settle()
  expect(run.state).toMatchObject({ status: 'failed', text: 'Good ', idx: 5, error: { code: 'RUN_LOST' } })
})

test('frames that come before the question is accepted are not lost', async () => {
  const { runs, push, server } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  expect(run.state).toMatchObject({ status: 'sending', message: 'Hello?' })
  push(0, 1)
  await settle()
  expect(run.state).toMatchObject({ status: 'running', text: 'Good ' })
  push(2, 3, 4, 5)
  expect(run.state).toMatchObject({ status: 'done', text: 'Good day' })
  expect(server.asked).toHaveLength(1)
})

test('a gap is asked for after the last applied frame', async () => {
  const { runs, push, server } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  await settle()
  push(0, 1, 4)
  expect(run.state.idx).toBe(1)
  await settle()
  expect(server.asked.slice(1)).toEqual(['resume 1'])
  expect(run.state).toMatchObject({ status: 'done', text: 'Good day' })
})

test('an answer of which nothing is heard for 15 s is asked for, and one that is over is not', async () => {
  const { runs, push, server } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  server.head = 2
  await settle()
  push(0)
  await settle(14_900)
  expect(server.asked).toHaveLength(1)
  await settle(200)
  expect(server.asked.slice(1)).toEqual(['resume 0'])
  expect(run.state.text).toBe('Good ')
  server.head = 6
  await settle(15_000)
  expect(run.state.status).toBe('done')
  await settle(60_000)
  expect(server.asked.slice(1)).toEqual(['resume 0', 'resume 1'])
})

test('a connection that comes back goes on after the last applied frame, and one that stays away reads over REST', async () => {
  const { runs, push, server, become } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  await settle()
  push(0, 1)
  server.head = 4
  become('connecting')
  expect(run.state.isCutOff).toBe(true)
  become('online')
  await settle()
  expect(run.state).toMatchObject({ idx: 3, isCutOff: false })
  server.head = 6
  become('rest')
  await settle()
  expect(server.asked.slice(1)).toEqual(['resume 1', 'frames 3'])
  expect(run.state.status).toBe('done')
})

test('an unanswered question is asked again with the same key, as often as it takes', async () => {
  const { runs, server } = asking()
  server.unanswered = 2
  const run = runs.ask(agent.id, 'Hello?')
  await settle(5_000)
  expect(run.state.runId).toBe(run_id)
  expect(new Set(server.asked.filter((one) => one.startsWith('run')))).toEqual(new Set([`run ${run.key}`]))
})

test('a question that no server has taken is asked again after a reload, by its key and once', async () => {
  const storage = memoryStorage()
  const before = asking(answer, storage)
  before.become('offline')
  const { key } = before.runs.ask(agent.id, 'Are you there?')
  const cancelled = before.runs.ask(agent.id, 'Never mind')
  await expect(cancelled.cancel()).resolves.toBeUndefined()
  await settle()

  const { runs, server } = asking(answer, storage)
  expect((await runs.active('another')).map(({ agentId }) => agentId)).not.toContain('another')
  expect(server.asked).toEqual(['resume -1'])
  const [, again, ...more] = await runs.active(agent.id)
  expect(again).toMatchObject({ key, state: { message: 'Are you there?' } })
  expect(more).toEqual([])
  await settle()
  expect(server.asked.filter((asked) => asked.startsWith('run '))).toEqual([`run ${key}`])
  expect(await asking(answer, storage).runs.active(agent.id)).toHaveLength(1)
})

test.each(['accepted', 'refused'])('a question that was %s is not asked again after a reload', async (what) => {
  const storage = memoryStorage()
  const { runs, server } = asking(answer, storage)
  if (what === 'refused') server.refusal = new AppError('AGENT_PRIVATE')
  runs.ask(agent.id, 'Hello?')
  await settle()
  const reloaded = asking(answer, storage)
  await reloaded.runs.active(agent.id)
  expect(reloaded.server.asked).toEqual(['resume -1'])
})

test('a refused question says why, and is not asked again', async () => {
  const { runs, server } = asking()
  server.refusal = new AppError('AGENT_PRIVATE')
  const run = runs.ask(agent.id, 'Hello?')
  await settle(5_000)
  expect(run.state).toMatchObject({ status: 'refused', error: { code: 'AGENT_PRIVATE' } })
  expect(server.asked).toHaveLength(1)
})

test('without a socket, the question is asked and the answer read over REST', async () => {
  const { runs, server, become } = asking()
  become('rest')
  const run = runs.ask(agent.id, 'Hello?')
  await settle(1_000)
  expect(server.asked).toEqual(['chat', 'frames -1'])
  expect(run.state).toMatchObject({ status: 'done', text: 'Good day' })
})

test('what is active is followed once', async () => {
  const { runs, server } = asking()
  server.head = 2
  const [run] = await runs.active(agent.id)
  const [again] = await runs.active()
  expect(again).toBe(run)
  await settle()
  expect(run?.state).toMatchObject({ status: 'running', message: 'Hello?', text: 'Good ' })
  expect(server.asked).toEqual(['resume -1'])
})

test('an answer that is stopped before it is accepted is stopped as soon as it is', async () => {
  const { runs, server } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  const stopping = run.cancel()
  await stopping
  await settle()
  expect(server.asked.filter((one) => one === 'cancel')).toHaveLength(1)
})

test('an answer that is stopped without a connection is stopped once there is one', async () => {
  const { runs, server, become } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  await settle()
  become('connecting')
  await expect(run.cancel()).rejects.toThrow()
  become('online')
  await settle()
  expect(server.asked.filter((one) => one === 'cancel')).toHaveLength(2)
})

test('a closed answer is not followed any more', async () => {
  const { runs, push, server } = asking()
  const run = runs.ask(agent.id, 'Hello?')
  await settle()
  run.close()
  push(0, 1)
  await settle(60_000)
  expect(run.state.text).toBe('')
  expect(server.asked).toHaveLength(1)
})

test.each(['online', 'rest'] as const)(
  'an answer whose frames are kept no longer is not asked for again, %s',
  async (state) => {
    const { runs, server, become } = asking()
    server.isForgotten = true
    become(state)
    const run = runs.open({ runId: run_id, agentId: agent.id })
    await settle(60_000)
    expect(run.state).toMatchObject({ status: 'failed', error: { code: 'RUN_NOT_FOUND' } })
    expect(server.asked).toHaveLength(1)
  },
)
