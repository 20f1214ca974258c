// Modes: embedded, two-nodes, two-nodes-redis
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { waitForEarlierRuns } from '#server/domains/agents/runs/answer'
import { endLostRun, newRun, type RunEnding } from '#server/domains/agents/runs/begin'
import { FrameLog, framesFrom, storedFrames } from '#server/domains/agents/runs/frame-store'
import { turnsBefore } from '#server/domains/agents/runs/history'
import { RunFrames, Runs, type StoredFrames, type StoredRun } from '#server/domains/agents/runs/model'
import { followStops, framesAfter, holdRun, releaseRun, runsHere, stopRun } from '#server/domains/agents/runs/relay'
import type { Node } from '#server/kernel/context'
import { runFrame } from '#shared/api/agents/agent-runs'
import { agents } from '#shared/api/agents/agents'
import { type FrameBody, isTerminal, type RunFrame } from '#shared/api/agents/run-frames'
import { accounts } from '#shared/api/people/accounts'
import { AppError } from '#shared/errors'
import { type Booted, boot } from '#test/support/boot'
import type { Line } from '#test/support/line'
import { outcomeOf, over, type Person, person } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { beginWork, type Work } from '#test/support/runs'
import { solo } from '#test/support/solo'
import { wallet } from '#test/support/wallet'

const puppet = puppetModel()
let server: Booted
let node: Node
let made = 0

beforeAll(async () => {
  server = await boot({
    environment: { ADMINS: wallet('admin').address, BETA: 'open' },
    services: { model: puppet.model },
  })
  const [app] = server.apps
  if (!app) throw new Error('There is a server')
  node = app.node
})
afterAll(() => server.close())
afterEach(async () => {
  vi.restoreAllMocks()
  for (const app of server.apps) await expect.poll(() => runsHere(app.node).size).toBe(0)
})

const somebody = () => person(server, `somebody ${++made}`)
async function agentOf(owner: Person, more: object = {}): Promise<string> {
  return (await owner.does('rest', agents.create, { name: `Agent ${++made}`, ...more })).agent.id
}

const nothing: RunEnding = { scheduling: null, inputTokens: null, outputTokens: null, cutShort: null }

/** Begins a run that is worked on so. */
async function working(work: Work): Promise<StoredRun> {
  const owner = await somebody()
  return beginWork(node, { agent: await agentOf(owner), account: owner.account, place: 'chat', message: 'Hi' }, work)
}

const stored = ({ _id }: Pick<StoredRun, '_id'>) => Runs.findOne({ _id }).lean<StoredRun>()
async function ended(run: StoredRun): Promise<{ run: StoredRun; frames: FrameBody[] }> {
  await expect.poll(async () => (await stored(run))?.state).not.toBe('running')
  return { run: (await stored(run)) as StoredRun, frames: await framesFrom(run._id, 0) }
}
/** The frames of a run that this node has sent so far. */
const toldOf = (run: string): readonly FrameBody[] => runsHere(node).get(run)?.frames ?? []

/** The store takes no frames of this node until it is opened. */
function slowStore() {
  const insert = RunFrames.insertMany.bind(RunFrames)
  let refusals = 0
  let isOpen = false
  vi.spyOn(RunFrames, 'insertMany').mockImplementation((async (...given: Parameters<typeof insert>) => {
    const [pieces] = given as unknown as [StoredFrames[]]
    if (isOpen || pieces.every((piece) => piece.node !== node.id)) return insert(...given)
    refusals++
    throw new Error('The store is away')
  }) as never)
  return {
    refusals: () => refusals,
    open: () => {
      isOpen = true
    },
  }
}

const chunk = (off: number, text: string) => ({ t: 'chunk', off, text }) as const
const wordsOf = (frames: readonly FrameBody[]) => frames.flatMap((frame) => (frame.t === 'chunk' ? [frame.text] : []))

describe('a run', () => {
  solo('takes nothing after its end, from whatever is still at work', async () => {
    let late: Parameters<Work>[1] = () => undefined
    const run = await working(async (_run, tell) => {
      late = tell
      tell(chunk(0, 'All'))
      return nothing
    })
    await expect.poll(() => framesFrom(run._id, 0)).toHaveLength(2)
    late(chunk(3, ' and more'))
    late({ t: 'status', phase: 'tools', detail: null })
    await pause(300)
    const { frames } = await ended(run)
    expect(frames.map(({ t }) => t)).toEqual(['chunk', 'done'])
  })

  solo('that is stopped ends so, whatever its work does then', async () => {
    const run = await working(async (_run, tell, signal) => {
      tell(chunk(0, 'So far'))
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      tell(chunk(6, ' and after'))
      throw new Error('The connection was reset')
    })
    await expect.poll(() => framesFrom(run._id, 0)).toHaveLength(1)
    stopRun(node, run._id, 'somebody')
    const { frames, run: after } = await ended(run)
    expect(frames).toEqual([chunk(0, 'So far'), { t: 'cancelled', by: 'somebody', partial_message_id: run.message_id }])
    expect(after).toMatchObject({ state: 'cancelled', content: 'So far' })
  })

  solo.each(['UPSTREAM_ERROR', 'TIMEOUT'] as const)(
    'that fails by %s before its first word names no partial message, and tells nothing that the model said of it',
    async (code) => {
      const run = await working(async () => {
        throw new AppError(code, { message: 'model gpt-secret of account 42 is overloaded' })
      })
      const text = 'Failed to generate response'
      expect((await ended(run)).frames).toEqual([{ t: 'error', code, text, partial_message_id: null }])
    },
  )

  solo('is told at most twenty times a second, and whole', async () => {
    const words = Array.from({ length: 200 }, (_, at) => `word ${at} `)
    let took = 0
    const run = await working(async (_run, tell) => {
      const began = performance.now()
      let off = 0
      for (const word of words) {
        tell(chunk(off, word))
        off += word.length
        await pause(5)
      }
      took = performance.now() - began
      return nothing
    })
    const { frames } = await ended(run)
    expect(wordsOf(frames).join('')).toBe(words.join(''))
    expect(wordsOf(frames).length).toBeLessThanOrEqual(took / 45 + 3)
  })

  test('is stopped within a word from nodes that no words come from, and is looked after seldom while none is written', async () => {
    const find = vi.spyOn(Runs, 'find')
    const looks = () => find.mock.calls.filter(([query]) => (query as { stop_at?: string })?.stop_at === 'apart').length
    const silent = { ...node.peers, isUp: () => false, listen: () => () => undefined }
    const apart: Node = { ...node, id: 'apart', alone: false, peers: silent }
    const end = followStops(apart)
    await pause(400)
    const idle = looks()
    holdRun(apart, new FrameLog('here'))
    await pause(1_000)
    releaseRun(apart, 'here')
    end()
    expect(idle).toBeLessThanOrEqual(1)
    expect(looks()).toBeGreaterThan(8)
  })

  solo(
    'is told word by word while the store takes its time, the first at once; and its end once that is stored',
    async () => {
      const store = slowStore()
      const told: string[][] = []
      const run = await working(async ({ _id }, tell) => {
        for (const [at, word] of ['One ', 'two ', 'three'].entries()) {
          tell(chunk(4 * at, word))
          if (at === 0) told.push(wordsOf(toldOf(_id)))
          await pause(60)
        }
        return nothing
      })
      expect(told).toEqual([['One ']])
      await expect.poll(() => wordsOf(toldOf(run._id)).join('')).toBe('One two three')
      await expect.poll(() => store.refusals()).toBeGreaterThan(0)
      await pause(300)
      expect(toldOf(run._id).filter(isTerminal)).toEqual([])
      store.open()
      expect((await ended(run)).frames.map(({ t }) => t)).toEqual(['chunk', 'chunk', 'chunk', 'done'])
    },
  )

  solo('tells what was done for it, and all that follows, once that is stored', async () => {
    const store = slowStore()
    const call = { t: 'tool', server: 'a', name: 'pay', state: 'running', ms: null } as const
    const run = await working(async (_run, tell) => {
      tell({ t: 'status', phase: 'tools', detail: null })
      tell(call)
      tell(chunk(0, 'Paid'))
      return nothing
    })
    await expect.poll(() => store.refusals()).toBeGreaterThan(0)
    await pause(300)
    expect(toldOf(run._id).map(({ t }) => t)).toEqual(['status'])
    store.open()
    expect((await ended(run)).frames.map(({ t }) => t)).toEqual(['status', 'tool', 'chunk', 'done'])
  })

  solo('is told two seconds ahead of what is stored at the most, and the rest once it is stored', async () => {
    const now = performance.now.bind(performance)
    let ahead = 0
    vi.spyOn(performance, 'now').mockImplementation(() => now() + ahead)
    const store = slowStore()
    let say: (off: number, text: string) => void = () => undefined
    let end: () => void = () => undefined
    const run = await working(async (_run, tell) => {
      say = (off, text) => tell(chunk(off, text))
      await new Promise<void>((resolve) => {
        end = resolve
      })
      return nothing
    })
    say(0, 'One ')
    ahead = 1_000
    say(4, 'two ')
    expect(wordsOf(toldOf(run._id))).toEqual(['One ', 'two '])
    ahead = 2_200
    say(8, 'three ')
    ahead = 3_200
    say(14, 'four')
    await pause(100)
    expect(wordsOf(toldOf(run._id))).toEqual(['One ', 'two '])
    store.open()
    await expect.poll(() => wordsOf(toldOf(run._id))).toEqual(['One ', 'two ', 'three four'])
    end()
    expect((await ended(run)).run.content).toBe('One two three four')
  })

  solo('is stored with all others in one write, soon after it was told', async () => {
    const insert = vi.spyOn(RunFrames, 'insertMany')
    const says: (() => void)[] = []
    const ends: (() => void)[] = []
    const work: Work = async (_run, tell) => {
      says.push(() => tell(chunk(0, 'Word')))
      await new Promise<void>((resolve) => ends.push(resolve))
      return nothing
    }
    const asked = { agent: 'gone', account: 'somebody', place: 'somewhere', message: 'Hi' }
    const runs = await Promise.all(Array.from({ length: 12 }, () => beginWork(node, asked, work)))
    for (const say of says) {
      say()
      await new Promise((resolve) => setImmediate(resolve))
    }
    const isStored = async ({ _id }: StoredRun) => (await framesFrom(_id, 0)).length > 0
    await expect
      .poll(async () => (await Promise.all(runs.map(isStored))).every(Boolean), { interval: 20, timeout: 2_500 })
      .toBe(true)
    expect(insert.mock.calls.map(([pieces]) => (pieces as unknown as StoredFrames[]).length)).toEqual([12])
    for (const end of ends) end()
    for (const run of runs) await expect.poll(() => stored(run)).toBeNull()
  })

  test('that another node has ended is ended with what is stored, for who was told more: at their next idx, wherever they read', async () => {
    const asker = await person(server, `asker ${++made}`, server.urls.at(-1))
    const line = await asker.line('/agents')
    let say: (off: number, text: string) => void = () => undefined
    const asked = { agent: await agentOf(asker), account: asker.account, place: 'chat', message: 'Hi' }
    const run = await beginWork(node, asked, async (_run, tell, signal) => {
      say = (off, text) => tell(chunk(off, text))
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return nothing
    })
    const apart = server.apps.at(-1)?.node as Node
    const reading = [node, apart].map(async (where) => {
      const told = []
      for await (const frame of framesAfter(where, run, -1, new AbortController().signal)) told.push(frame)
      return told
    })
    await asker.does(line, agents.resume, { run_id: run._id })
    say(0, 'Kept')
    await expect.poll(() => framesFrom(run._id, 0)).toEqual([chunk(0, 'Kept')])
    const store = slowStore()
    for (const [at, word] of [' one', ' two'].entries()) {
      say(4 + 4 * at, word)
      await expect.poll(() => toldOf(run._id)).toHaveLength(2 + at)
    }
    await endLostRun({ ...node, id: 'another' }, run)
    store.open()
    const end = { t: 'error', code: 'RUN_LOST', partial_message_id: run.message_id, message: 'Kept' } as const
    const frames = (await Promise.all(reading)) as RunFrame[][]
    await line.hears(runFrame, isTerminal)
    expect(frames[0]?.map(({ idx }) => idx)).toEqual([0, 1, 2, 3])
    for (const told of [...frames, line.all(runFrame)]) {
      expect(told.map(({ idx }) => idx)).toEqual(told.map((_, at) => at))
      expect(told.filter(isTerminal)).toMatchObject([end])
      expect(told.at(-1)).toMatchObject(end)
    }
    expect(await ended(run)).toMatchObject({
      run: { state: 'failed', content: 'Kept', error_code: 'RUN_LOST' },
      frames: [chunk(0, 'Kept'), end],
    })
    for (const after_idx of [0, 1, 2, 7]) {
      const resumed = await asker.does(line, agents.resume, { run_id: run._id, after_idx })
      expect(resumed).toMatchObject({ state: 'failed', complete: true, head_idx: after_idx + 1 })
      expect(resumed.frames).toMatchObject([{ ...end, idx: after_idx + 1 }])
      const headers = { authorization: `Bearer ${asker.token}` }
      const read = await fetch(`${asker.url}/api/agents/runs/${run._id}/frames?after_idx=${after_idx}`, { headers })
      const lines = (await read.text()).trim().split('\n')
      expect(lines.map((line) => JSON.parse(line))).toEqual(resumed.frames)
    }
  })

  solo.each([
    ['fails and stores nothing', async () => undefined, {}],
    ['stores and does not say so', async (write: () => Promise<unknown>) => void (await write()), {}],
    ['has a frame that cannot be read yet', async () => undefined, { code: 11_000 }],
  ])('loses no frame and doubles none where the store %s', async (_what, first, refusal) => {
    const insert = RunFrames.insertMany.bind(RunFrames)
    let failures = 0
    vi.spyOn(RunFrames, 'insertMany').mockImplementation((async (...given: Parameters<typeof insert>) => {
      if (failures++ > 2) return insert(...given)
      await first(() => insert(...given).catch(() => undefined))
      throw Object.assign(new Error('The connection to the store was lost'), refusal)
    }) as never)
    const run = await working(async (_run, tell) => {
      for (const [at, word] of ['One ', 'two ', 'three'].entries()) {
        tell(chunk(4 * at, word))
        await pause(60)
      }
      return nothing
    })
    const { frames } = await ended(run)
    expect(failures).toBeGreaterThan(3)
    expect(wordsOf(frames).join('')).toBe('One two three')
    expect(frames.filter(isTerminal)).toMatchObject([{ t: 'done', message: 'One two three' }])
  })

  solo('that no store can take is lost, and holds up no other of the same write', async () => {
    const insert = RunFrames.insertMany.bind(RunFrames)
    vi.spyOn(RunFrames, 'insertMany').mockImplementation((async (...given: Parameters<typeof insert>) => {
      if (JSON.stringify(given[0]).includes('impossible')) throw new RangeError('Too long for any store')
      return insert(...given)
    }) as never)
    const says: (() => void)[] = []
    const ends: (() => void)[] = []
    const saying = (text: string) =>
      working(async (_run, tell) => {
        says.push(() => tell(chunk(0, text)))
        await new Promise<void>((resolve) => ends.push(resolve))
        return nothing
      })
    const [bad, good] = [await saying('impossible'), await saying('possible')]
    for (const say of says) say()
    await expect.poll(() => framesFrom(good._id, 0)).toHaveLength(1)
    for (const end of ends) end()
    expect((await ended(good)).run).toMatchObject({ state: 'done', content: 'possible' })
    expect((await ended(bad)).run).toMatchObject({ state: 'failed', content: '', error_code: 'RUN_LOST' })
  })

  solo('is read from any idx, also from within frames that were stored together', async () => {
    const pieces = [[chunk(0, 'a'), chunk(1, 'b'), chunk(2, 'c')], [chunk(3, 'd')], [chunk(4, 'e'), chunk(5, 'f')]]
    let from = 0
    for (const piece of pieces) {
      await RunFrames.create(storedFrames('pieces', from, piece, 'gone', Date.now()))
      from += piece.length
    }
    for (let at = 0; at <= 6; at++) expect(wordsOf(await framesFrom('pieces', at)).join('')).toBe('abcdef'.slice(at))
  })

  test('is ended by another node only where the one that writes it has not come further meanwhile', async () => {
    const owner = await somebody()
    const agent = await agentOf(owner)
    const run = newRun(node, { agent, account: owner.account, place: 'chat', message: 'Hi' })
    await Runs.create(run)
    const insert = RunFrames.insertMany.bind(RunFrames)
    vi.spyOn(RunFrames, 'insertMany').mockImplementationOnce((async (...given: Parameters<typeof insert>) => {
      await RunFrames.create(storedFrames(run._id, 0, [chunk(0, 'Further')], 'busy', Date.now()))
      return insert(...given)
    }) as never)
    await endLostRun(node, run)
    expect(await stored(run)).toMatchObject({ state: 'running', content: '' })
    expect(wordsOf(await framesFrom(run._id, 0))).toEqual(['Further'])
    await endLostRun(node, run)
    expect(await stored(run)).toMatchObject({ state: 'failed', content: 'Further', error_code: 'RUN_LOST' })
  })

  solo('of more than 500 frames is resumed in part, and the rest is told', async () => {
    const asker = await somebody()
    const run = newRun(node, { agent: await agentOf(asker), account: asker.account, place: 'chat', message: 'Hi' })
    const frames = Array.from({ length: 1_200 }, (_, at): FrameBody => chunk(at, 'x'))
    frames.push({ t: 'cancelled', by: asker.account, partial_message_id: run.message_id })
    for (let from = 0; from < frames.length; from += 100)
      await RunFrames.create(storedFrames(run._id, from, frames.slice(from, from + 100), 'gone', Date.now()))
    await Runs.create({ ...run, state: 'cancelled' })
    const line = await asker.line('/agents')
    const page = await asker.does(line, agents.resume, { run_id: run._id, after_idx: 99 })
    expect(page).toMatchObject({ complete: false, head_idx: 1_200 })
    expect(page.frames.map(({ idx }) => idx)).toEqual(Array.from({ length: 500 }, (_, at) => 100 + at))
    await line.hears(runFrame, isTerminal)
    expect(line.all(runFrame).map(({ idx }) => idx)).toEqual(Array.from({ length: 601 }, (_, at) => 600 + at))
    expect((await asker.does('rest', agents.active, {})).runs).toEqual([])
  })

  solo('waits for the one before it, and says so once', async () => {
    const owner = await somebody()
    const asked = { agent: await agentOf(owner), account: owner.account, place: 'chat', message: 'Hi' }
    const first = newRun(node, asked)
    await Runs.create(first)
    const told: FrameBody[] = []
    const gone = new AbortController()
    const waiting = waitForEarlierRuns(node, newRun(node, asked), (body) => told.push(body), gone.signal)
    await pause(1_000)
    expect(told).toEqual([{ t: 'status', phase: 'queued', detail: null }])
    gone.abort(new Error('Stopped'))
    await expect(waiting).rejects.toThrow('Stopped')
    await Runs.deleteOne({ _id: first._id })
  })

  solo('is told the last ten messages of its conversation, and the history gives each once, page by page', async () => {
    const owner = await somebody()
    const asked = { agent: await agentOf(owner), account: owner.account, place: 'chat' }
    for (let at = 0; at < 12; at++) {
      const run = await beginWork(node, { ...asked, message: `Question ${at}` }, async (_run, tell) => {
        tell(chunk(0, `Answer ${at}`))
        return nothing
      })
      await ended(run)
    }
    const run = newRun(node, { ...asked, message: 'Now' })
    const turns = (await turnsBefore(node, run, 10)).map(({ content }) => content)
    expect(turns).toEqual([7, 8, 9, 10, 11].flatMap((at) => [`Question ${at}`, `Answer ${at}`]))
    const said: string[] = []
    for (let before: string | undefined; ; ) {
      const page = { id: asked.agent, limit: 5, ...(before ? { before } : {}) }
      const { chats } = await owner.does('rest', agents.history, page)
      said.unshift(...chats.map(({ content }) => content))
      if (chats.length < 5) break
      before = chats[0]?.id
    }
    expect(said).toEqual(Array.from({ length: 12 }, (_, at) => [`Question ${at}`, `Answer ${at}`]).flat())
    for (const [door, before] of [
      ['rest', 'zzz'],
      ['socket', run._id],
    ] as const)
      expect(await owner.refused(door, agents.history, { id: asked.agent, before })).toMatchObject({
        status: 400,
        code: 'INVALID_PARAMETER',
      })
  })

  solo('is told the newest of what was said that 32,000 characters hold', async () => {
    const owner = await somebody()
    const asked = { agent: await agentOf(owner), account: owner.account, place: 'chat' }
    for (const letter of ['a', 'b', 'c'])
      await ended(
        await beginWork(node, { ...asked, message: 'Go on' }, async (_run, tell) => {
          tell(chunk(0, letter.repeat(15_000)))
          return nothing
        }),
      )
    const turns = await turnsBefore(node, newRun(node, { ...asked, message: 'Now' }), 10)
    const lengths = turns.map(({ role, content }) => [role, content[0], content.length])
    expect(lengths).toEqual([
      ['assistant', 'a', 1_990],
      ['user', 'G', 5],
      ['assistant', 'b', 15_000],
      ['user', 'G', 5],
      ['assistant', 'c', 15_000],
    ])
  })

  solo('is counted where it was answered whole, and only there', async () => {
    const owner = await somebody()
    const asked = { agent: await agentOf(owner), account: owner.account, place: 'chat', message: 'Hi' }
    const failing: Work = async () => {
      throw new AppError('UPSTREAM_ERROR')
    }
    for (const work of [failing, async () => nothing, failing]) await ended(await beginWork(node, asked, work))
    const count = async () => (await owner.does('rest', agents.get, { id: asked.agent })).agent.message_count
    await expect.poll(count).toBe(1)
    await pause(400)
    expect(await count()).toBe(1)
  })

  solo('of an agent that is gone leaves nothing behind', async () => {
    const asked = { agent: 'gone', account: 'somebody', place: 'chat', message: 'Hi' }
    const run = await beginWork(node, asked, async (_run, tell) => {
      tell(chunk(0, 'For nobody'))
      return nothing
    })
    await expect.poll(() => stored(run)).toBeNull()
    expect(await framesFrom(run._id, 0)).toEqual([])
  })

  test('is told once on a connection that resumes it again and again', async () => {
    const asker = await somebody()
    const line = await asker.line('/agents')
    let say: (text: string) => void = () => undefined
    let end: () => void = () => undefined
    const asked = { agent: await agentOf(asker), account: asker.account, place: 'chat', message: 'Hi' }
    const run = await beginWork(node, asked, async (_run, tell) => {
      say = (text) => tell(chunk(0, text))
      await new Promise<void>((resolve) => {
        end = resolve
      })
      return nothing
    })
    for (let time = 0; time < 3; time++) await asker.does(line, agents.resume, { run_id: run._id })
    say('Once')
    end()
    await line.hears(runFrame, isTerminal)
    await pause(200)
    expect(line.all(runFrame).map(({ idx }) => idx)).toEqual([0, 1])
    await ended(run)
  })
})

describe('a question that is repeated on its connection after the answer ended', () => {
  test('gets no frame a second time', async () => {
    const asker = await somebody()
    const line = await asker.line('/agents')
    const question = { agent_id: await agentOf(asker), message: 'Again', client_run_id: 'again' }
    const { run_id } = await asker.does(line, agents.run, question)
    const answer = await puppet.asked()
    answer.end()
    await line.hears(runFrame, isTerminal)
    const once = line.all(runFrame).length
    expect((await asker.does(line, agents.run, question)).run_id).toBe(run_id)
    // Whatever the repeat began to send is sent before this answer.
    await asker.does(line, agents.resume, { run_id })
    expect(line.all(runFrame)).toHaveLength(once)
  })
})

describe('a conversation', () => {
  solo('is that of one person in one place: nobody else is told it, and nobody else can delete it', async () => {
    const [one, other] = [await somebody(), await somebody()]
    const agent = await agentOf(one, { visibility: 'public' })
    const places = [
      { account: one.account, place: 'chat' },
      { account: other.account, place: 'chat' },
      { account: 'public:/one', place: 'public:/one' },
      { account: 'public:/other', place: 'public:/other' },
    ]
    for (const { account, place } of places)
      await ended(await beginWork(node, { agent, account, place, message: `Of ${account}` }, async () => nothing))
    for (const { account, place } of places) {
      const run = newRun(node, { agent, account, place, message: 'Now' })
      expect((await turnsBefore(node, run, 10)).map(({ content }) => content)).toEqual([`Of ${account}`])
    }
    await one.does('rest', agents.forget, { id: agent })
    expect((await one.does('rest', agents.history, { id: agent })).chats).toEqual([])
    expect((await other.does('rest', agents.history, { id: agent })).chats).toHaveLength(2)
    expect(await Runs.countDocuments({ agent_id: agent, message: { $ne: '' } })).toBe(3)
  })
})

describe('the key of a question', () => {
  solo('is for one agent, and for who asks', async () => {
    const owner = await somebody()
    const stranger = await somebody()
    const [one, other] = [await agentOf(owner, { visibility: 'public' }), await agentOf(owner)]
    const question = { agent_id: one, message: 'Once', client_run_id: 'key' }
    const { run_id } = await owner.does('socket', agents.run, question)
    const refused = await owner.refused('socket', agents.run, { ...question, agent_id: other })
    expect(refused.code).toBe('CONFLICT')
    const theirs = await stranger.does('socket', agents.run, question)
    expect(theirs.run_id).not.toBe(run_id)
    expect((await stranger.does('socket', agents.run, question)).run_id).toBe(theirs.run_id)
    for (const id of [run_id, theirs.run_id]) {
      const answer = await puppet.asked()
      answer.end()
      await expect.poll(async () => (await stored({ _id: id }))?.state).not.toBe('running')
    }
  })
})

/** Passes over what was asked in vain before, by a run that was stopped. */
async function askedFor(message: string) {
  for (;;) {
    const answer = await puppet.asked()
    if (answer.question.turns.at(-1)?.content === message) return answer
  }
}

/** Two people on the first and the last node, which may be the same one. */
async function askingAcross(more: object = {}) {
  const owner = await person(server, `owner ${++made}`, server.url)
  const name = `asker ${++made}`
  const asker = await person(server, name, server.urls.at(-1))
  const agent = await agentOf(owner, { visibility: 'public', ...more })
  const { run_id } = await asker.does('socket', agents.run, { agent_id: agent, message: `Tell me ${made}` })
  const here = await asker.line('/agents')
  const elsewhere = await asker.socket('/agents', server.url)
  const answer = await askedFor(`Tell me ${made}`)
  answer.say('Half ')
  await here.hears(runFrame, (frame) => frame.run_id === run_id && frame.t === 'chunk')
  await asker.does(elsewhere, agents.resume, { run_id })
  const endsOf = (line: Line) => line.all(runFrame).filter((frame) => frame.run_id === run_id && isTerminal(frame))
  const bothEnded = () =>
    expect
      .poll(() => [here, elsewhere].map((line) => endsOf(line).map(({ t }) => t)))
      .toEqual([[expect.any(String)], [expect.any(String)]])
  return { owner, asker, name, agent, run_id, here, elsewhere, answer, endsOf, bothEnded }
}

describe('while an answer is written', () => {
  test.each(over)(
    'its agent is deleted on another node, over %s: it is stopped for everybody, and nothing is kept',
    async (door) => {
      const { owner, asker, agent, run_id, here, elsewhere, answer, endsOf, bothEnded } = await askingAcross()
      const next = await asker.does('socket', agents.run, { agent_id: agent, message: 'And then?' })
      await owner.does(door, agents.remove, { id: agent })
      await bothEnded()
      expect(endsOf(here)).toMatchObject([{ t: 'cancelled', by: owner.account }])
      expect(endsOf(elsewhere)).toMatchObject([{ t: 'cancelled' }])
      expect(answer.signal.aborted).toBe(true)
      answer.say('too late')
      const ids = [run_id, next.run_id]
      await expect.poll(() => Runs.countDocuments({ agent_id: agent })).toBe(0)
      await expect.poll(() => RunFrames.countDocuments({ run_id: { $in: ids } })).toBe(0)
      expect(outcomeOf(await asker.tries('socket', agents.resume, { run_id }))).toBe('404 RUN_NOT_FOUND')
      expect(outcomeOf(await asker.tries(elsewhere, agents.run, { agent_id: agent, message: 'Hi' }))).toBe(
        '404 AGENT_NOT_FOUND',
      )
    },
  )

  test('its agent becomes private: it is stopped for who asked, who keeps what was written and may not ask again', async () => {
    const { owner, asker, agent, run_id, here, elsewhere, answer, bothEnded, endsOf } = await askingAcross()
    await owner.does('rest', agents.update, { id: agent, visibility: 'private' })
    await bothEnded()
    expect(endsOf(here)).toMatchObject([{ t: 'cancelled', by: owner.account }])
    expect(endsOf(elsewhere)).toEqual(endsOf(here))
    expect(answer.signal.aborted).toBe(true)
    const { frames } = await asker.does(elsewhere, agents.resume, { run_id })
    expect(wordsOf(frames).join('')).toBe('Half ')
    for (const line of [here, elsewhere])
      expect(outcomeOf(await asker.tries(line, agents.run, { agent_id: agent, message: 'More?' }))).toBe(
        '404 AGENT_NOT_FOUND',
      )
    expect(outcomeOf(await asker.tries('rest', agents.chat, { id: agent, message: 'More?' }))).toBe(
      '404 AGENT_NOT_FOUND',
    )
    for (const door of over) {
      const { chats } = await asker.does(door, agents.history, { id: agent })
      expect(chats.map(({ content }) => content).slice(-1)).toEqual(['Half '])
      expect(await asker.does(door, agents.history, { id: agent, before: chats[0]?.id })).toEqual({ chats: [] })
    }
    const read = await asker.rest(`GET /api/agents/runs/${run_id}/frames`)
    expect(read.status).toBe(200)
    for (const door of over) {
      const stranger = await person(server, 'who never asked')
      expect(outcomeOf(await stranger.tries(door, agents.history, { id: agent }))).toBe('404 AGENT_NOT_FOUND')
    }
    await asker.does('rest', agents.forget, { id: agent })
    for (const door of over)
      expect(outcomeOf(await asker.tries(door, agents.history, { id: agent }))).toBe('404 AGENT_NOT_FOUND')
  })

  test('who asked is suspended on another node: it is stopped, with its partial text kept', async () => {
    const admin = await person(server, 'admin', server.url)
    const { asker, run_id, answer } = await askingAcross()
    await admin.does('rest', accounts.suspend, { userAddress: asker.account, ban: true })
    await expect.poll(() => stored({ _id: run_id })).toMatchObject({ state: 'cancelled', content: 'Half ' })
    expect(answer.signal.aborted).toBe(true)
    expect((await framesFrom(run_id, 0)).at(-1)).toMatchObject({ t: 'cancelled', by: admin.account })
  })

  test.each(over)(
    'its conversation is deleted on another node, over %s: it is stopped, and nothing of it is kept',
    async (door) => {
      const { asker, name, agent, run_id, here, elsewhere, answer, endsOf, bothEnded } = await askingAcross()
      await (await person(server, name, server.url)).does(door, agents.forget, { id: agent })
      await bothEnded()
      for (const line of [here, elsewhere]) expect(endsOf(line)).toMatchObject([{ t: 'cancelled', by: asker.account }])
      expect(answer.signal.aborted).toBe(true)
      expect((await asker.does('rest', agents.history, { id: agent })).chats).toEqual([])
      await expect.poll(() => RunFrames.countDocuments({ run_id })).toBe(0)
      await expect.poll(async () => JSON.stringify(await stored({ _id: run_id }))).not.toMatch(/Half|Tell me/)
      expect((await asker.does('rest', agents.active, {})).runs).toEqual([])
    },
  )
})

test('a reader on another node is told by word, and leaves nothing behind', async () => {
  const [writing, reading] = server.apps
  if (!writing || !reading) return
  let [listening, told] = [0, 0]
  const listen = reading.node.peers.listen.bind(reading.node.peers)
  vi.spyOn(reading.node.peers, 'listen').mockImplementation((topic, heard) => {
    const stop = listen(topic, heard)
    const isOfRun = topic.startsWith('run:')
    if (isOfRun) listening++
    return () => {
      if (isOfRun) listening--
      stop()
    }
  })
  const tell = writing.node.peers.tell.bind(writing.node.peers)
  vi.spyOn(writing.node.peers, 'tell').mockImplementation((topic, word) => {
    if (topic.startsWith('run:')) told++
    return tell(topic, word)
  })
  let end: () => void = () => undefined
  const run = await working(async (_run, tellFrame) => {
    tellFrame(chunk(0, 'Half '))
    await new Promise<void>((resolve) => {
      end = resolve
    })
    tellFrame(chunk(5, 'and whole'))
    return nothing
  })
  const gone = new AbortController()
  const followed = framesAfter(reading.node, run, -1, gone.signal)
  const other = framesAfter(reading.node, run, -1, new AbortController().signal)
  expect((await followed.next()).value).toMatchObject({ idx: 0, text: 'Half ' })
  expect((await other.next()).value).toMatchObject({ idx: 0, text: 'Half ' })
  expect(listening).toBe(1)
  await followed.return(undefined)
  expect(listening).toBe(1)
  await pause(1_000)
  end()
  const rest = []
  for await (const frame of other) rest.push(frame)
  expect(rest).toMatchObject([
    { idx: 1, text: 'and whole' },
    { idx: 2, t: 'done', message: 'Half and whole' },
  ])
  expect(listening).toBe(0)
  if (writing.node.peers.isUp()) expect(told).toBeGreaterThan(0)
  await ended(run)
})
