// Modes: embedded
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import type { RunEnding } from '#server/domains/agents/runs/begin'
import { framesFrom } from '#server/domains/agents/runs/frame-store'
import { Runs, type StoredRun } from '#server/domains/agents/runs/model'
import { runsHere } from '#server/domains/agents/runs/relay'
import type { Node } from '#server/kernel/context'
import { agents } from '#shared/api/agents/agents'
import { isTerminal } from '#shared/api/agents/run-frames'
import { type Booted, boot } from '#test/support/boot'
import { type Person, person } from '#test/support/people'
import { beginWork, type Work } from '#test/support/runs'

// One node, as it is the clock of a whole process that is moved: nodes beside it would be taken to be gone.
let server: Booted
let node: Node
let owner: Person
let agent: string

beforeAll(async () => {
  server = await boot()
  node = server.apps[0]?.node as Node
  owner = await person(server, 'owner')
  agent = (await owner.does('rest', agents.create, { name: 'Slow' })).agent.id
})
afterAll(() => server.close())
afterEach(async () => {
  vi.restoreAllMocks()
  await expect.poll(() => runsHere(node).size).toBe(0)
})

const nothing: RunEnding = { scheduling: null, inputTokens: null, outputTokens: null, cutShort: null }

const working = (work: Work): Promise<StoredRun> =>
  beginWork(node, { agent, account: owner.account, place: 'chat', message: 'Hi' }, work)

async function lastFrame({ _id }: StoredRun) {
  await expect.poll(async () => (await Runs.findOne({ _id }).lean<StoredRun>())?.state).not.toBe('running')
  return (await framesFrom(_id, 0)).at(-1)
}

test('a run says that it is alive while nothing comes, and is ended after five minutes', async () => {
  const now = performance.now.bind(performance)
  let ahead = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  const run = await working(
    (_run, _tell, signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
  )
  const frames = () => framesFrom(run._id, 0)
  await pause(1_200)
  expect(await frames()).toEqual([])
  ahead = 11_000
  await expect.poll(frames).toEqual([{ t: 'status', phase: 'generating', detail: null }])
  ahead = 301_000
  expect(await lastFrame(run)).toMatchObject({ t: 'error', code: 'TIMEOUT' })
  await pause(1_200)
  expect((await frames()).filter(isTerminal)).toHaveLength(1)
})

test('a run that waits for its turn says so, and has its five minutes from then on', async () => {
  const now = performance.now.bind(performance)
  let ahead = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
  let turn: () => void = () => undefined
  let end: () => void = () => undefined
  const run = await working((_run, tell, signal) => {
    tell({ t: 'status', phase: 'queued', detail: null })
    return new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason))
      turn = () => {
        tell({ t: 'status', phase: 'generating', detail: null })
        end = () => resolve(nothing)
      }
    })
  })
  const phases = async () =>
    (await framesFrom(run._id, 0)).map((frame) => (frame.t === 'status' ? frame.phase : frame.t))
  await pause(1_200)
  ahead = 301_000
  await expect.poll(phases).toEqual(['queued', 'queued'])
  turn()
  ahead = 590_000
  await expect.poll(phases).toEqual(['queued', 'queued', 'generating', 'generating'])
  end()
  expect(await lastFrame(run)).toMatchObject({ t: 'done' })
})
