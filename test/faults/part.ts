import { setTimeout as pause } from 'node:timers/promises'
import { checkAnswers } from './answer-checker.ts'
import { check, type Finding } from './checker.ts'
import type { Cluster } from './cluster.ts'
import { type Crowd, gather } from './crowd.ts'
import { Figures } from './figures.ts'
import { History, type LogRow } from './history.ts'
import { insistOnReading } from './insist.ts'
import { checkMedia } from './media-checker.ts'
import type { Random } from './random.ts'
import { checkRecords, readRecords } from './records.ts'
import { injectAll, type Plan } from './schedule.ts'
import { until } from './setup.ts'
import { type Step, stepsTo } from './steps.ts'
import { readPages, readStore } from './stored.ts'
import { type Answers, nothingAnswered, readAnswers } from './stored-answers.ts'
import { nothingStored, readMedia } from './stored-media.ts'

/** The results of one part of a run, on one cluster. */
export interface Outcome {
  name: string
  /** Null where nobody could come. */
  crowd: Crowd | null
  history: History
  logs: ReadonlyMap<string, readonly LogRow[]>
  answers: Answers
  /** The nonces that the facilitator has charged. */
  charged: readonly string[]
  findings: readonly Finding[]
  breaches: string[]
  counts: ReadonlyMap<string, number>
  figures: Figures
  crashes: readonly string[]
  unhandled: number
  /** The unexpected errors that the servers logged. */
  unforeseen: readonly string[]
}

export interface PartOptions {
  name: string
  start(): Promise<Cluster>
  plan: Plan
  random: Random
  isLong: boolean
}

const startMilliseconds = 600_000
const gatherMilliseconds = 300_000
const adjournMilliseconds = 600_000
/** What follows is over as soon as it may be; the rest is for a machine that is ten times as slow. */
const settleMilliseconds = 60_000
const moreMilliseconds = 60_000
/** Records that are unwritten for two seconds are written by any node that follows the log. */
const recordMilliseconds = 3_000
const mostRecordMilliseconds = 30_000
const letterMilliseconds = 40_000
/** For the ends of answers whose node was lost, and for payments that are looked at again ever more seldom. */
const answerMilliseconds = 300_000
/** For a step at the end, which waits for some of the above. */
const endMilliseconds = 900_000
/** For all steps together, beyond the time of the plan. */
const mostMilliseconds = 3_600_000

/** Lets people send messages while faults are injected, ends all faults, and checks the history. What fails of that is a breach. */
export async function runPart({ name, start, plan, random, isLong }: PartOptions): Promise<Outcome> {
  const breaches: string[] = []
  const outcome: Outcome = {
    ...{ name, crowd: null, history: new History(), logs: new Map(), answers: nothingAnswered, charged: [] },
    ...{ findings: [], breaches, counts: new Map(), figures: new Figures(), crashes: [], unhandled: 0, unforeseen: [] },
  }
  const step = stepsTo(breaches)
  const cluster = await step(`${name}: the start`, startMilliseconds, start)
  if (!cluster) return outcome
  const { history } = outcome
  outcome.crowd = await step(`${name}: the people`, gatherMilliseconds, () =>
    gather(cluster, { isLong, history, random, breaches, step }),
  )
  const { crowd } = outcome
  if (crowd)
    await step(name, 1_000 * plan.seconds + mostMilliseconds, () => play(outcome, crowd, { plan, random, step }))
  outcome.crashes = cluster.processes.flatMap(({ crashes }) => crashes)
  outcome.unforeseen = cluster.processes.flatMap((one) => one.unforeseen)
  outcome.unhandled = outcome.figures.unhandled + cluster.processes.reduce((sum, { unhandled }) => sum + unhandled, 0)
  return outcome
}

async function play(
  outcome: Outcome,
  crowd: Crowd,
  { plan, random, step }: { plan: Plan; random: Random; step: Step },
): Promise<void> {
  const { history, figures, breaches } = outcome
  const { world, senders, readers, moderators, observer, askers, payers } = crowd
  const { cluster } = world
  const { uploaders = [], attenders = [] } = crowd.media ?? {}
  for (const one of [...readers, ...senders, ...moderators, observer, ...askers, ...payers]) one.start()
  for (const one of [...uploaders, ...attenders]) one.start()
  figures.start(cluster)
  if (world.listeners && !(await world.listeners.connectAll(30_000))) breaches.push('The listeners did not connect')
  console.log(`${(history.now() / 1_000).toFixed(1).padStart(6)} s  everybody is here`)
  const counts = await injectAll(world, random, plan)
  outcome.counts = counts
  await talkedEnough(history, plan.acked)
  counts.set('F13', (await step('Everybody is pardoned', adjournMilliseconds, () => adjourn(crowd))) ?? 0)
  console.log(`${(history.now() / 1_000).toFixed(1).padStart(6)} s  healed`)
  const answered = Promise.all([
    step('Agents answer', endMilliseconds, () => concluded(crowd)),
    step('Uploads and joins end', endMilliseconds, () => mediaConcluded(crowd)),
  ])
  await step('Senders end', endMilliseconds, () =>
    Promise.all([...senders.map((sender) => sender.stop(settleMilliseconds)), world.flood?.sender.stop(0)]),
  )
  await step('Readers come to the end', endMilliseconds, () => insistOnReading(() => settled(cluster, crowd)))
  breaches.push(...(await lettersLost(cluster)), ...(await answered).flatMap((some) => some ?? []))
  figures.stop()
  observer.stop()
  world.listeners?.closeAll()
  for (const reader of readers) reader.stop()
  const stored = await step('The stores are read', endMilliseconds, () =>
    insistOnReading(() => readAll(cluster, crowd)),
  )
  outcome.charged = cluster.facilitator.charged
  if (stored) {
    const { logs, unrecorded, answers, media } = stored
    outcome.logs = logs
    outcome.answers = answers
    outcome.findings = [
      ...check(history.entries, logs, crowd.spoilt),
      ...unrecorded,
      ...checkAnswers(history.entries, answers, outcome.charged),
      ...checkMedia(history.entries, media),
    ]
  }
  breaches.push(
    ...world.probe.falseAcks,
    ...readers.filter(({ resets }) => resets > 0).map(({ name }) => `${name} was told to begin anew`),
  )
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
  try {
    for (const room of rooms) {
      const log = store
        ? readStore(store.documents, room)
        : readPages(cluster.nodes[0]?.url ?? '', world.stranger.person, room)
      heads.set(room.key, (await log).length)
    }
  } finally {
    await store?.close()
  }
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
    await until(async () => (await compared()).length === 0, mostRecordMilliseconds)
    const { services } = cluster
    const media = services && of ? await readMedia(documents, services.storage, of) : nothingStored
    return { logs, unrecorded: await compared(), answers: await readAnswers(documents), media }
  } finally {
    await close()
  }
}
