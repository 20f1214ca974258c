import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { io, type Socket } from 'socket.io-client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Viewers } from '#server/domains/streams/streams/model'
import { fakeVideo } from '#server/ports/video/fake'
import { streamCounted } from '#shared/api/streams/stream-events'
import { StreamCounts } from '#shared/api/streams/stream-records'
import { streams } from '#shared/api/streams/streams'
import { type Random, seeded } from '#test/faults/random'
import { type Booted, boot } from '#test/support/boot'
import { personAt } from '#test/support/people'
import { build } from '#test/support/programs'
import { started } from '#test/support/started'
import { freshDatabaseUri } from '#test/support/test-servers'
import { call, signIn, wallet } from '#test/support/wallet'

/** Two hundred people, by how they watch; each third guest with a socket has a second tab with the same key. */
const crowd = { accounts: 24, guestsWithSockets: 56, guestsOverRest: 120 }
const guestsAtAddress = 10
const actingAtOnce = 40
const rounds = 3
const seed = 20
const long = 300_000
const answerMilliseconds = 60_000
/** Ten seconds in which those who were cut off may come back, ten in which the count must be right, and as much for a slow machine. */
const settledWithin = { timeout: 40_000, interval: 250 }
/** By so much the clocks of two nodes may differ, which both take the time of the store. */
const clocksDiffer = 1_000

let one: Booted
let other: { url: string; process: ChildProcess } | undefined
let directory: string
const video = fakeVideo()

beforeAll(async () => {
  build()
  const environment = { MONGODB_URI: freshDatabaseUri() ?? '', TRUSTED_PROXIES: '1' }
  one = await boot({ nodes: 1, environment, services: { video } })
  directory = mkdtempSync(join(tmpdir(), 'plaza-viewers-'))
  other = await started({
    ...environment,
    NODE_ENV: 'test',
    DATA_DIR: directory,
    PUBLIC_URL: 'http://localhost:3000',
    RATE_LIMIT_SCALE: '1000',
    VIDEO_PROVIDER: 'none',
  })
}, long)
afterAll(async () => {
  await killOther()
  await one.close()
  rmSync(directory, { recursive: true, force: true })
})

const node = () => one.apps[0]?.node ?? expect.fail()

/** As a machine that loses its power: it says goodbye to nobody. */
async function killOther(): Promise<void> {
  if (!other || other.process.exitCode !== null || other.process.signalCode !== null) return
  const ended = once(other.process, 'exit')
  other.process.kill('SIGKILL')
  await ended
}

/** One way in which somebody watches: a tab, a device, a program that asks over REST. */
interface Way {
  isIn: boolean
  come(): Promise<void>
  /** More than once, as pages do that are closed. */
  leave(): Promise<void>
  /** Without a word; null where there is no connection to be cut. */
  cut: (() => void) | null
}

class Watcher {
  readonly ways: Way[]
  /** When they may have been counted, as the first node tells the time. */
  readonly spans: { from: number; to: number }[] = []
  #isCut = false

  constructor(...ways: readonly Way[]) {
    this.ways = [...ways]
  }

  get isThere(): boolean {
    return this.ways.some(({ isIn }) => isIn)
  }

  async come(...ways: readonly Way[]): Promise<void> {
    if (this.spans.at(-1)?.to !== Number.POSITIVE_INFINITY)
      this.spans.push({ from: node().now(), to: Number.POSITIVE_INFINITY })
    await Promise.all(ways.map((way) => way.come()))
    for (const way of ways) way.isIn = true
  }

  async leave(way: Way): Promise<void> {
    await way.leave()
    way.isIn = false
    if (!this.#isCut) this.#gone()
  }

  lose(way: Way): void {
    way.cut?.()
    way.isIn = false
    this.#isCut = true
  }

  /** Who was cut off and did not come back is counted no more. */
  settle(): void {
    this.#isCut = false
    this.#gone()
  }

  #gone(): void {
    const last = this.spans.at(-1)
    if (!this.isThere && last) last.to = Math.min(last.to, node().now())
  }

  async act(random: Random): Promise<void> {
    const [first, ...rest] = random.shuffled(this.ways)
    if (!first) return
    const chance = random.next()
    if (!first.isIn || chance < 0.2) await this.come(first)
    else if (chance < 0.5) await this.leave(first)
    else if (chance < 0.75 && first.cut) this.lose(first)
    else await this.come(...rest)
  }
}

const answered = async (asked: ReturnType<typeof call>) => expect((await asked).status).toBe(200)
/** Ends a connection below the socket. */
const sever = ({ io: { engine } }: Socket) =>
  (engine.transport as unknown as { ws: { terminate(): void } }).ws.terminate()

test('200 people on two nodes are counted once each, whatever they do, and whatever is lost with a node', {
  timeout: long,
}, async () => {
  await expect.poll(() => node().nodes.live().size, { timeout: long }).toBe(2)
  const random = seeded(seed)
  const urls: [string, string] = [one.url, other?.url ?? '']
  const owner = await personAt(one.url, 'owner of a crowd')
  const { stream } = await owner.does('rest', streams.create, { title: 'For everybody' })
  const path = `/api/public/streams/${stream.id}`
  video.publish(stream.stream_id)

  // The owner of a stream gets all its events, and is not counted as a viewer.
  const told = new Map<string, (StreamCounts & { heardAt: number })[]>()
  const answers: StreamCounts[] = []
  for (const url of urls) {
    const line = await owner.socket('/streams', url)
    const heard: (StreamCounts & { heardAt: number })[] = []
    told.set(url, heard)
    line.socket.on(streamCounted.name, (counts) => heard.push({ ...StreamCounts.parse(counts), heardAt: node().now() }))
    answers.push((await owner.does(line, streams.watch, { stream_id: stream.id })).counts)
  }

  const sockets = new Set<Socket>()
  /** Over a socket to a node, as an account or as a guest of an address, with a key that all their tabs share. */
  function tab(at: 0 | 1, who: { token: string } | { address: string; key: string | null }): Way {
    let socket: Socket | null = null
    const isGuest = 'key' in who
    const ask = async (event: string) => {
      const key = isGuest && who.key !== null && event === 'stream:watch' ? { viewer_key: who.key } : {}
      const answer = await socket?.timeout(answerMilliseconds).emitWithAck(event, { stream_id: stream.id, ...key })
      if (!answer?.ok) throw new Error(`${event} was answered ${JSON.stringify(answer)}`)
      answers.push(StreamCounts.parse(answer.data.counts))
      return answer.data
    }
    return {
      isIn: false,
      async come() {
        if (!socket) {
          const credentials = isGuest ? { extraHeaders: { 'x-forwarded-for': who.address } } : { auth: who }
          const options = { transports: ['websocket'], forceNew: true, reconnection: false, ...credentials }
          socket = io(`${urls[at]}/streams`, options)
          sockets.add(socket)
        }
        const { viewer_key } = await ask('stream:watch')
        if (isGuest) who.key = viewer_key
      },
      async leave() {
        if (socket) await Promise.all([ask('stream:unwatch'), ask('stream:unwatch')])
      },
      cut() {
        if (!socket) return
        if (socket.connected) sever(socket)
        sockets.delete(socket)
        socket = null
      },
    }
  }

  /** Over REST, by whichever node is there, as an account or as a browser that was given a cookie. */
  function beacon(who: { token: string } | { address: string; cookie: string }): Way {
    const headers = 'cookie' in who ? { 'x-forwarded-for': who.address, cookie: who.cookie } : {}
    const token = 'token' in who ? who.token : undefined
    const ask = (route: string) => answered(call(random.pick(urls), route, null, token, headers))
    return {
      isIn: false,
      come: () => ask(`POST ${path}`),
      async leave() {
        await Promise.all([ask(`DELETE ${path}`), ask(`POST ${path}?action=leave`)])
      },
      cut: null,
    }
  }

  const addressOf = (at: number) =>
    `10.7.${Math.floor(at / guestsAtAddress / 250)}.${Math.floor(at / guestsAtAddress) % 250}`
  const tabs: Way[][] = [[], []]
  const on = (at: number, who: Parameters<typeof tab>[1]) => {
    const made = tab(at % 2 === 0 ? 0 : 1, who)
    tabs[at % 2]?.push(made)
    return made
  }

  const accounts = await madeOf(crowd.accounts, async (at) => {
    const { sessionToken: token } = await signIn(one.url, wallet(`one of a crowd ${at}`))
    return new Watcher(on(0, { token }), on(1, { token }), beacon({ token }))
  })
  const guests = Array.from({ length: crowd.guestsWithSockets }, (_, at) => {
    const who = { address: addressOf(at), key: null }
    return new Watcher(on(at, who), ...(at % 3 === 0 ? [on(at + 1, who)] : []))
  })
  const browsers = await madeOf(crowd.guestsOverRest, async (at) => {
    const address = addressOf(crowd.guestsWithSockets + at)
    const { headers } = await call(urls[at % 2] ?? one.url, `GET ${path}`, null, undefined, {
      'x-forwarded-for': address,
    })
    const [cookie] = /app_browser=[\w-]+/.exec(headers.get('set-cookie') ?? '') ?? expect.fail('A guest got no cookie')
    return new Watcher(beacon({ address, cookie }))
  })
  const everybody = [...accounts, ...guests, ...browsers]
  const there = () => everybody.filter(({ isThere }) => isThere).length
  const shown = async (url: string) => (await call(url, `GET ${path}`)).body.stream as { [field: string]: unknown }
  const settled = async (nodes: readonly string[]) => {
    const counts = () => Promise.all(nodes.map(async (url) => (await shown(url)).viewer_count))
    await expect.poll(counts, settledWithin).toEqual(nodes.map(there))
    for (const watcher of everybody) watcher.settle()
  }

  // Accounts by all their ways at once. The second tab of a guest has the key of the first.
  await atOnce(random.shuffled(everybody), (watcher) =>
    watcher.come(...(accounts.includes(watcher) ? watcher.ways : watcher.ways.slice(0, 1))),
  )
  expect(there()).toBe(200)
  for (let round = 0; round < rounds; round++)
    await atOnce(random.shuffled(everybody), (watcher) => watcher.act(random))
  expect(there()).toBeGreaterThan(40)
  expect(there()).toBeLessThan(200)
  await settled(urls)
  expect(await shown(one.url)).toMatchObject({ unique_viewers: 200, peak_viewers: expect.any(Number) })

  const lost = tabs[1]?.filter(({ isIn }) => isIn) ?? []
  expect(lost.length).toBeGreaterThan(8)
  await killOther()
  urls[1] = one.url
  const lostOf = ({ ways }: Watcher) => ways.filter((way) => lost.includes(way))
  const losers = everybody.filter((watcher) => lostOf(watcher).length > 0)
  for (const watcher of losers) for (const way of lostOf(watcher)) watcher.lose(way)
  await settled([one.url])
  // Half of them come back, to the node that is left, as who they were.
  const back = losers.filter((_, at) => at % 2 === 0)
  await atOnce(back, (watcher) => watcher.come(...lostOf(watcher)))
  await settled([one.url])

  // Of those who ask over REST, some ask again, and all others have left without a word.
  one.setAhead(200)
  const beacons = everybody.flatMap((watcher) =>
    watcher.ways.filter(({ cut, isIn }) => cut === null && isIn).map((way) => ({ watcher, way })),
  )
  await atOnce(
    beacons.filter((_, at) => at % 3 === 0),
    ({ watcher, way }) => watcher.come(way),
  )
  one.setAhead(301)
  for (const { watcher, way } of beacons.filter((_, at) => at % 3 > 0)) watcher.lose(way)
  expect(there()).toBeGreaterThan(20)
  await settled([one.url])

  await atOnce(everybody, async (watcher) => {
    for (const way of watcher.ways.filter(({ isIn }) => isIn)) await watcher.leave(way)
  })
  await settled([one.url])
  const last = await shown(one.url)
  expect(last).toMatchObject({ viewer_count: 0, unique_viewers: 200 })
  expect(await Viewers.countDocuments({ stream: stream.id })).toBe(200)
  for (const socket of sockets) socket.close()

  const all = [...told.values()].flat()
  expect(all.length).toBeGreaterThan(20)
  for (const heard of told.values())
    expect(heard.map(({ v }) => v)).toEqual(heard.map(({ v }) => v).sort((a, b) => a - b))
  const byVersion = new Map<number, StreamCounts>()
  for (const counts of [...all.map(({ heardAt: _, ...rest }) => rest), ...answers]) {
    expect(byVersion.get(counts.v) ?? counts, 'one version says one thing').toEqual(counts)
    byVersion.set(counts.v, counts)
    expect(counts.sources.sockets + counts.sources.rest).toBe(counts.viewers)
    expect(counts.peak).toBeGreaterThanOrEqual(counts.viewers)
  }
  for (const { viewers, as_of, heardAt } of all) {
    const since = Date.parse(as_of) - clocksDiffer
    const most = everybody.filter(({ spans }) => spans.some(({ from, to }) => from <= heardAt && to >= since)).length
    expect(viewers, `told at ${as_of}`).toBeLessThanOrEqual(most)
  }
  expect(Math.max(...all.map(({ unique }) => unique))).toBe(200)
})

/** A few at a time. */
async function atOnce<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const waiting = [...items]
  const workOff = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) await work(item)
  }
  await Promise.all(Array.from({ length: actingAtOnce }, workOff))
}

async function madeOf<Made>(count: number, make: (at: number) => Promise<Made>): Promise<Made[]> {
  const made: Made[] = []
  await atOnce([...Array(count).keys()], async (at) => {
    made[at] = await make(at)
  })
  return made
}
