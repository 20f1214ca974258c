import { setTimeout as pause } from 'node:timers/promises'
import { checkAnswers } from './answer-checker.ts'
import { check, type Finding } from './checker.ts'
import type { Cluster } from './cluster.ts'
import { type Crowd, gather } from './crowd.ts'
import { Figures } from './figures.ts'
import { History, type LogRow } from './history.ts'
import { checkMedia } from './media-checker.ts'
import type { Random } from './random.ts'
import { checkRecords, readRecords } from './records.ts'
import { injectAll, type Plan } from './schedule.ts'
import { until } from './setup.ts'
import { readPages, readStore } from './stored.ts'
import { type Answers, readAnswers } from './stored-answers.ts'
import { nothingStored, readMedia } from './stored-media.ts'

/** The results of one part of a run, on one cluster. */
export interface Outcome {
  name: string
  history: History
  logs: ReadonlyMap<string, readonly LogRow[]>
  answers: Answers
  /** The nonces that the facilitator has charged. */
  charged: readonly string[]
  findings: readonly Finding[]
  breaches: readonly string[]
  counts: ReadonlyMap<string, number>
  crowd: Crowd
  figures: Figures
  crashes: readonly string[]
  unhandled: number
  /** The unexpected errors that the servers logged. */
  unforeseen: readonly string[]
}

const settleMilliseconds = 20_000
const moreMilliseconds = 60_000
/** Records that are unwritten for two seconds are written by any node that follows the log. */
const recordMilliseconds = 3_000
const letterMilliseconds = 40_000
/** For the ends of answers whose node was lost, and for payments that are looked at again ever more seldom. */
const answerMilliseconds = 30_000

/** Lets people send messages while faults are injected, ends all faults, and checks the history. */
export async function runPart(
  cluster: Cluster,
  plan: Plan,
  { random, isLong }: { random: Random; isLong: boolean },
): Promise<Outcome> {
  const history = new History()
  const figures = new Figures()
  const crowd = await gather(cluster, { isLong, history, random })
  const { world, senders, readers, moderators, observer, askers, payers } = crowd
  const { uploaders = [], attenders = [] } = crowd.media ?? {}
  for (const one of [...readers, ...senders, ...moderators, observer, ...askers, ...payers]) one.start()
  for (const one of [...uploaders, ...attenders]) one.start()
  figures.start(cluster)
  if (world.listeners && !(await world.listeners.connectAll(30_000)))
    world.breaches.push('The listeners did not connect')
  console.log(`${(history.now() / 1_000).toFixed(1).padStart(6)} s  everybody is here`)
  const counts = await injectAll(world, random, plan)
  await talkedEnough(history, plan.acked)
  counts.set('F13', await adjourn(crowd))
  console.log(`${(history.now() / 1_000).toFixed(1).padStart(6)} s  healed`)
  const answered = Promise.all([concluded(crowd), mediaConcluded(crowd)])
  await Promise.all(senders.map((sender) => sender.stop(settleMilliseconds)))
  await world.flood?.sender.stop(0)
  await settled(cluster, crowd)
  world.breaches.push(...(await lettersLost(cluster)), ...(await answered).flat())
  figures.stop()
  observer.stop()
  world.listeners?.closeAll()
  for (const reader of readers) reader.stop()
  const { logs, unrecorded, answers, media } = await readAll(cluster, crowd)
  const { charged } = cluster.facilitator
  return {
    name: cluster.storeName,
    history,
    logs,
    answers,
    charged,
    findings: [
      ...check(history.entries, logs, crowd.spoilt),
      ...unrecorded,
      ...checkAnswers(history.entries, answers, charged),
      ...checkMedia(history.entries, media),
    ],
    breaches: [
      ...world.breaches,
      ...world.probe.falseAcks,
      ...readers.filter(({ resets }) => resets > 0).map(({ name }) => `${name} was told to begin anew`),
    ],
    counts,
    crowd,
    figures,
    crashes: cluster.processes.flatMap(({ crashes }) => crashes),
    unforeseen: cluster.processes.flatMap((one) => one.unforeseen),
    unhandled: figures.unhandled + cluster.processes.reduce((sum, { unhandled }) => sum + unhandled, 0),
  }
}

async function talkedEnough({ entries }: History, acked: number): Promise<void> {
  const isEnough = () => entries.filter((entry) => entry.op === 'send' && entry.type === 'ok').length >= acked
  for (const end = Date.now() + moreMilliseconds; !isEnough() && Date.now() < end; ) await pause(1_000)
}

/** Stops the moderators and lifts their acts: everybody may write again. */
async function adjourn({ moderators, senders }: Crowd): Promise<number> {
  await Promise.all(moderators.map((moderator) => moderator.stop()))
  await moderators[0]?.pardon()
  for (const moderator of moderators) moderator.leave()
  for (const sender of senders) await sender.enter()
  return moderators.reduce((sum, { done }) => sum + done, 0)
}

/** Lets askers and payers end what they have begun, and asks every agent once more. */
async function concluded({ askers, payers, world }: Crowd): Promise<string[]> {
  const asking = [...askers, world.provoker]
  await Promise.all([...asking, ...payers].map((one) => one.stop(answerMilliseconds)))
  const done = await Promise.all(
    asking.map(async (asker) => [asker, await asker.conclude(answerMilliseconds)] as const),
  )
  return done.flatMap(([{ name }, isDone]) => (isDone ? [] : [`F22: ${name} was not answered after all faults`]))
}

/** Lets uploads end, and lets everybody who holds a token join once more. */
async function mediaConcluded({ media }: Crowd): Promise<string[]> {
  const { uploaders = [], attenders = [] } = media ?? {}
  const stored = await Promise.all(
    uploaders.map(async (one) => ((await one.stop(answerMilliseconds)) ? [] : [`F21: ${one.name} could not upload`])),
  )
  const joined = await Promise.all(
    attenders.map(async (one) => ((await one.conclude(answerMilliseconds)) ? [] : [`F23: ${one.name} got no answer`])),
  )
  return [...stored, ...joined].flat()
}

/** The emails that were accepted and did not arrive in the time that a lost node and a lost Redis may take together. */
async function lettersLost({ letters }: Cluster): Promise<string[]> {
  if (!letters) return []
  await until(() => letters.owed().length === 0, letterMilliseconds)
  return [
    ...letters.owed().map((email) => `F18: no letter came to ${email}`),
    ...letters.doubled().map((email) => `F18: two letters came to ${email}`),
  ]
}

/** Waits until every reader has shown the whole logs, or none of them makes progress. */
async function settled(cluster: Cluster, { rooms, readers, world }: Crowd): Promise<void> {
  const heads = new Map<string, number>()
  const store = cluster.storeUri === null ? null : await cluster.openStore()
  for (const room of rooms) {
    const log = store
      ? readStore(store.documents, room)
      : readPages(cluster.nodes[0]?.url ?? '', world.stranger.person, room)
    heads.set(room.key, (await log).length)
  }
  await store?.close()
  const areAtEnd = () => readers.every(({ last, room }) => last >= (heads.get(room.key) ?? 0))
  const shown = () => readers.reduce((sum, { last }) => sum + last, 0)
  for (let before = -1; !areAtEnd() && shown() > before; await until(areAtEnd, settleMilliseconds)) before = shown()
}

/** The stored logs, and the differences of the records from them after the records had time to follow. */
async function readAll(cluster: Cluster, { rooms, media: of }: Crowd) {
  if (cluster.storeUri === null) {
    await pause(recordMilliseconds)
    for (const { process: node } of cluster.nodes) await node.kill()
  }
  const { documents, close } = await cluster.openStore()
  try {
    const logs = new Map<string, LogRow[]>()
    for (const room of rooms) logs.set(room.key, await readStore(documents, room))
    const compared = async () => {
      const findings = rooms.map(async (room) =>
        checkRecords(room.key, logs.get(room.key) ?? [], await readRecords(documents, room)),
      )
      return (await Promise.all(findings)).flat()
    }
    await until(async () => (await compared()).length === 0, recordMilliseconds)
    const { services } = cluster
    const media = services && of ? await readMedia(documents, services.storage, of) : nothingStored
    return { logs, unrecorded: await compared(), answers: await readAnswers(documents), media }
  } finally {
    await close()
  }
}
