import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import mongoose from 'mongoose'
import { z } from 'zod'
import { StreamState } from '#shared/api/streams/stream-records'
import { call } from '#test/support/wallet'
import { freePort } from '../../scripts/test-servers.mjs'
import { Broadcaster } from './broadcaster.ts'
import type { Person } from './client.ts'
import { newNode, nodeEnvironment, type PlazaNode } from './cluster.ts'
import { insist, sdkOf } from './insist.ts'
import { checkChat, checkStates, type Standing } from './livestream-checker.ts'
import { type Livestream, Talker, Watcher } from './livestream-people.ts'
import { Setup, until } from './setup.ts'
import { type Documents, readStore } from './stored.ts'
import type { World } from './world.ts'

const graceMilliseconds = 20_000
/** Ten times what it takes where nothing else runs. */
const patience = 60_000
const Shown = z.object({ stream: StreamState.pick({ status: true, reason: true, started_at: true }) })
let runs = 0

/**
 * Livestreams on two nodes of their own, one of which has the engine: publishers are killed, come back in time and too late, and freeze;
 * the engine is killed, and then its node. The events of watchers, and the messages of the meantime, are checked.
 */
export async function breakLivestreams({ cluster: { server, storeUri, directory }, breaches }: World): Promise<void> {
  if (storeUri === null) return
  const uri = new URL(storeUri)
  uri.pathname = `/plaza_faults_streams_${++runs}`
  const home = join(directory, `livestreams-${runs}`)
  mkdirSync(home)
  const rtmpPort = await freePort()
  const environment = {
    ...nodeEnvironment,
    DATA_DIR: home,
    MONGODB_URI: uri.href,
    VIDEO_PROVIDER: 'selfhosted',
    RTMP_HOST: '127.0.0.1',
    RTMP_PORT: `${rtmpPort}`,
    STREAM_RECONNECT_GRACE_MS: `${graceMilliseconds}`,
  }
  const nodes = await Promise.all(['one', 'other'].map((name) => newNode(`${name} of streams`, server, environment)))
  const said = (what: string) => void breaches.push(`F29: ${what}`)
  try {
    await Promise.all(nodes.map(({ process: node }) => node.start()))
    await broadcast(nodes, { rtmpPort, uri: uri.href }, said)
  } catch (error) {
    said(String(error))
  } finally {
    for (const node of nodes) {
      breaches.push(...node.process.crashes)
      await node.process.kill()
      for (const link of Object.values(node.doors)) link.close()
    }
  }
}

async function broadcast(
  nodes: readonly PlazaNode[],
  { rtmpPort, uri }: { rtmpPort: number; uri: string },
  said: (what: string) => void,
): Promise<void> {
  const setup = await Setup.open(nodes[0]?.url ?? '')
  const people = await setup.people('streamer', 3)
  const streams: Livestream[] = []
  for (const owner of people) streams.push(await openStream(nodes, owner, rtmpPort))
  const [steady, late, frozen] = streams
  if (!steady || !late || !frozen) throw new Error('Nobody streams')
  const watchers = nodes.map(({ url }) => new Watcher(setup.owner, url, streams))
  const talker = new Talker(setup.owner, nodes, steady)
  for (const one of [...watchers, talker, ...streams.map(({ publisher }) => publisher)]) one.start()
  /** What follows would fail as well. */
  const expectSoon = async (isSo: () => boolean | Promise<boolean>, otherwise: string) => {
    if (!(await until(isSo, patience))) throw new Error(otherwise)
  }
  const is = async ({ id }: Livestream, reason: Standing['reason']) => (await shown(nodes, id))?.reason === reason
  const isEach = async (reason: Standing['reason'], ...some: readonly Livestream[]) =>
    (await Promise.all(some.map((one) => is(one, reason)))).every(Boolean)

  try {
    await expectSoon(() => isEach('live', ...streams), 'three streams did not go live')
    const began = await Promise.all(streams.map(async ({ id }) => (await shown(nodes, id))?.started_at))

    steady.publisher.kill()
    late.publisher.kill()
    frozen.publisher.freeze(true)
    await expectSoon(() => isEach('interrupted', steady, late), 'who was cut off was not missed')
    steady.publisher.comeBack()
    await expectSoon(() => is(steady, 'live'), 'who came back in time is not live')
    await expectSoon(() => is(frozen, 'interrupted'), 'who sent nothing was not missed')
    frozen.publisher.freeze(false)
    await expectSoon(() => is(frozen, 'live'), 'who sent again is not live')

    const [engine] = enginesOf(nodes)
    const [entries, before] = [steady.publisher.accepted, talker.acknowledged.length]
    if (engine) process.kill(engine.pid, 'SIGKILL')
    else said('no node had an engine')
    await expectSoon(() => talker.acknowledged.length > before + 3, 'without the engine nobody could write')
    await expectSoon(() => steady.publisher.accepted > entries, 'no other engine took who came back')
    await expectSoon(() => isEach('live', steady, frozen), 'not live after the engine was killed')

    const [again] = enginesOf(nodes)
    const entered = steady.publisher.accepted
    await again?.node.process.kill()
    const isElsewhere = () => enginesOf(nodes).some(({ node }) => node !== again?.node)
    await expectSoon(isElsewhere, 'no other node took the streams')
    await expectSoon(() => steady.publisher.accepted > entered, 'the other node let nobody in')
    await expectSoon(() => isEach('live', steady, frozen), 'not live after the node was killed')
    await again?.node.process.start()

    await expectSoon(() => is(late, 'connection_lost'), 'who stayed away was not given up')
    late.publisher.comeBack()
    await expectSoon(() => late.publisher.refused > 0, 'who came back too late was not refused')
    if (!(await is(late, 'connection_lost'))) said('who came back too late is live')
    for (const [at, { id }] of streams.entries())
      if ((await shown(nodes, id))?.started_at !== began[at]) said(`the stream ${at} is another than it was`)
  } finally {
    for (const { publisher } of streams) publisher.stop()
    await talker.stop()
    for (const watcher of watchers) watcher.stop()
  }
  for (const { id } of streams)
    for (const fault of checkStates(watchers.flatMap((watcher) => watcher.told.get(id) ?? []))) said(fault)
  for (const fault of checkChat(talker.acknowledged, await storedIn(uri, steady.id))) said(fault)
}

/** As soon as there is an engine: before that its provider fails. */
async function openStream(nodes: readonly PlazaNode[], owner: Person, rtmpPort: number): Promise<Livestream> {
  const { streams } = sdkOf(nodes[0]?.url ?? '', owner.token)
  const { stream } = await insist(() => streams.create({ title: 'Faults' }), {
    milliseconds: patience,
    passes: () => true,
  })
  const { id, stream_key = '' } = stream
  return { id, owner, publisher: new Broadcaster(rtmpPort, stream_key) }
}

/** From a node that answers. */
async function shown(nodes: readonly PlazaNode[], id: string) {
  for (const { url, process: node } of nodes) {
    if (!node.isUp) continue
    const answer = await call(url, `GET /api/public/streams/${id}`).catch(() => null)
    const found = Shown.safeParse(answer?.body)
    if (found.success) return found.data.stream
  }
  return null
}

/** The engines that run, each with the node that started it. */
function enginesOf(nodes: readonly PlazaNode[]): { node: PlazaNode; pid: number }[] {
  return nodes.flatMap((node) => {
    const { pid } = node.process
    return pid === null ? [] : childrenOf(pid).map((child) => ({ node, pid: child }))
  })
}

function childrenOf(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean)
    return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('media/main')).map(Number)
  } catch {
    // It has ended meanwhile.
    return []
  }
}

async function storedIn(uri: string, id: string): Promise<(string | null)[]> {
  const client = new mongoose.mongo.MongoClient(uri, { serverSelectionTimeoutMS: 10_000 })
  try {
    const rows = await readStore(client.db() as Documents, { id, key: `stream:${id}` })
    return rows.filter(({ effect }) => effect.kind === 'message').map(({ cid }) => cid)
  } finally {
    await client.close()
  }
}
