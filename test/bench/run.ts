import { writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { measureEffect, measureLongLog, measureVerdict, type Size } from './alone.ts'
import { centrifugoBinary, startCentrifugo } from './centrifugo.ts'
import { measureDisk } from './disk.ts'
import { measureEngine } from './engine.ts'
import { measureExport } from './exports.ts'
import { measureHolds } from './holds.ts'
import { directoryOfRun, type Ground, startBare, startDriver, startPlaza, startRaw, stopAll } from './processes.ts'
import { measureQuiet } from './quiet.ts'
import { type Plan, Race, type Server } from './race.ts'
import { measureReads } from './reads.ts'
import { measureRefusals } from './refusals.ts'
import { Report, type Setting, type Side } from './report.ts'
import { moderatedRoom, people, smallRooms } from './room.ts'
import { measureRuns } from './runs.ts'
import { measureSearch } from './search.ts'
import { measureSignIns } from './sign-ins.ts'
import { measureStrangers } from './strangers.ts'
import { measureStreamChat } from './stream-chat.ts'
import { measureUploads } from './uploads.ts'
import { measureWatchers } from './watchers.ts'

const settings = [
  'embedded',
  'many',
  'connections',
  'mongodb',
  'nodes',
  'workers',
  'alone',
  'idle',
  'reads',
  'strangers',
  'agents',
  'uploads',
  'export',
  'sign-ins',
  'video',
] as const
const { values: options } = parseArgs({
  options: {
    json: { type: 'string' },
    quick: { type: 'boolean', default: false },
    // The archive of an account with 1,000,000 messages and 10 GB, which needs 20 GB of disk.
    full: { type: 'boolean', default: false },
    protocol: { type: 'string', default: '2' },
    only: { type: 'string', multiple: true, default: [...settings] },
  },
})
const isQuick = options.quick
const accounts = isQuick ? 50 : 1_000
const plan: Plan = {
  protocol: options.protocol === '1' ? 1 : 2,
  rounds: isQuick ? 2 : 3,
  load: isQuick ? { warmSeconds: 0.5, slices: 2 } : { warmSeconds: 2, slices: 6 },
  pacedSeconds: isQuick ? 1 : 5,
  rooms: [
    { size: 10, senders: 10, windows: [8] },
    { size: 100, senders: 20, windows: [8] },
    { size: 1_000, senders: 50, windows: isQuick ? [2] : [2, 16] },
  ],
  many: isQuick
    ? { rooms: 100, members: 10, perSecond: 200, seconds: 4, talking: 20, turnSeconds: 2 }
    : { rooms: 1_000, members: 10, perSecond: 1_000, seconds: 12, talking: 200, turnSeconds: 2 },
  idleConnections: isQuick ? 500 : 5_000,
}
const size: Size & { stored: number } = isQuick
  ? { rounds: 2, seconds: 2, longLog: 50_000, acts: 50, stored: 100_000 }
  : { rounds: 5, seconds: 4, longLog: 1_000_000, acts: 400, stored: 1_000_000 }
const shared: Plan = { ...plan, rooms: plan.rooms.slice(0, 2) }

const report = new Report()
const missing: string[] = []
const embedded = { nodes: 1, store: 'embedded' }
if (options.only.includes('embedded')) {
  await compare(embedded, plan, (race) => race.talk())
  await measureHolds(report, size.stored)
}
if (options.only.includes('many')) await compare(embedded, plan, (race) => race.scatter(), {}, true)
// On fresh servers, as a server that was under load keeps free memory, which would hide the cost of these connections.
if (options.only.includes('connections')) await compare(embedded, plan, (race) => race.gather())
const onShared = (setting: Setting, ground: Ground) => compare(setting, shared, (race) => race.talk(), ground)
if (options.only.includes('mongodb')) await onMongo({ nodes: 1, redis: false }, onShared)
if (options.only.includes('nodes')) await onMongo({ nodes: 2, redis: true }, onShared)
if (options.only.includes('workers')) {
  // All of them share one core here, so that the crowd is one that four can bear, and the CPU of a message is what counts.
  const { rooms, talking, perSecond } = plan.many
  const few = { ...plan.many, rooms: rooms / 4, talking: talking / 10, perSecond: perSecond / 20 }
  const slow = { ...plan, many: few }
  const scatter = (setting: Setting, ground: Ground) => compare(setting, slow, (race) => race.scatter(), ground, true)
  for (const nodes of [1, 4]) await onMongo({ nodes, redis: true }, scatter)
}
if (options.only.includes('alone')) {
  measureVerdict(report)
  await measureLongLog(report, size)
  await measureEffect(report, embedded, {}, size)
  await onMongo({ nodes: 2, redis: true }, (setting, ground) => measureEffect(report, setting, ground, size))
}
if (options.only.includes('idle')) await measureQuiet(report, { seconds: isQuick ? 10 : 60, crowd: 1_000 })
if (options.only.includes('reads')) {
  await measureReads(report, isQuick ? 4 : 15)
  await measureRefusals(report)
}
if (options.only.includes('strangers'))
  await measureStrangers(report, isQuick ? { rooms: 100, seconds: 15 } : { rooms: 490, seconds: 45 })
if (options.only.includes('agents')) {
  await measureSearch(report)
  await measureRuns(report, isQuick ? 100 : 1_000, isQuick ? 4 : 10)
}
if (options.only.includes('uploads')) await measureUploads(report, isQuick ? 50 : 200, isQuick ? 4 : 10)
if (options.only.includes('export')) {
  const usual = isQuick ? { messages: 5_000, megabytes: 50 } : { messages: 100_000, megabytes: 1_000 }
  const large = { messages: 1_000_000, megabytes: 10_000 }
  await measureExport(report, { ...(options.full ? large : usual), seconds: isQuick ? 4 : 10 })
}
if (options.only.includes('sign-ins')) await measureSignIns(report, isQuick ? 500 : 2_500)
if (options.only.includes('video')) {
  const seconds = isQuick ? 5 : 20
  const crowd = { watchers: isQuick ? 10_000 : 100_000, changing: 1_000, seconds: seconds / 2 }
  await measureEngine(report, { publishers: 10, viewers: isQuick ? 50 : 150, seconds })
  await measureWatchers(report, embedded, {}, crowd)
  // The MongoDB of the tests writes some hundred watchers a second.
  const fewer = { ...crowd, watchers: 10_000, changing: 200 }
  await onMongo({ nodes: 2, redis: false }, (setting, ground) => measureWatchers(report, setting, ground, fewer))
  await measureStreamChat(report, { accounts, sizes: isQuick ? [500] : [1_000, 5_000], perSecond: 50, seconds })
}

console.log(`\nNode ${process.version}; ${accounts} accounts share the connections of a larger room.\n`)
console.log(report.text)
for (const reason of missing) console.log(`\nNot measured: ${reason}`)
console.log(`\n${diskTold()}`)
if (options.json)
  writeFileSync(options.json, `${JSON.stringify({ rows: report.rows, alone: report.figures }, null, 2)}\n`)

/** Shown beside the latencies, to separate the disk's share from the server's. */
function diskTold(): string {
  const { p50, p99 } = measureDisk(directoryOfRun(), isQuick ? 1 : 5)
  return `The disk alone, 4 kB and their fdatasync: p50 ${p50.toFixed(2)} ms, p99 ${p99.toFixed(2)} ms`
}

/** All servers of a setting run at the same time; each is measured in turn, under the same load. */
async function compare(
  setting: Setting,
  plan: Plan,
  run: (race: Race) => Promise<void>,
  ground: Ground = {},
  hasManyRooms = false,
): Promise<void> {
  try {
    const times = Array.from({ length: setting.nodes })
    const bare = await inTurn(times, () => startBare(ground.redisUrl))
    const plaza = await inTurn(times, () => startPlaza(ground))
    const raw = setting.nodes === 1 && setting.store === 'embedded' && !hasManyRooms ? [await startRaw()] : []
    const members = await people(plaza[0]?.url ?? '', accounts)
    const rooms = hasManyRooms
      ? await smallRooms(plaza[0]?.url ?? '', members, plan.many.rooms, plan.many.members)
      : [await moderatedRoom(plaza[0]?.url ?? '', members)]
    const centrifugo = centrifugoBinary && setting.store === 'embedded' ? [await startCentrifugo(centrifugoBinary)] : []
    const sides = {
      bare,
      plaza,
      ...(raw.length > 0 ? { ws: raw } : {}),
      ...(centrifugo.length > 0 ? { centrifugo } : {}),
    }
    // One driver for each server, as one process may not open the connections of all.
    const servers = Object.entries(sides).map(([side, nodes]): Server => {
      return { side: side as Side, nodes, rooms, driver: startDriver() }
    })
    const tokens = members.map(({ token }) => token)
    await run(new Race({ setting, plan, servers, tokens, report }))
  } finally {
    await stopAll()
  }
}

async function onMongo(
  { nodes, redis: wantsRedis }: { nodes: number; redis: boolean },
  run: (setting: Setting, ground: Ground) => Promise<void>,
): Promise<void> {
  const { startMongo, startRedis } = await import('../../scripts/test-servers.mjs')
  const mongo = await startMongo()
  const redis = wantsRedis ? await startRedis() : null
  try {
    if ('missing' in mongo || (redis && 'missing' in redis)) {
      missing.push('missing' in mongo ? mongo.missing : redis && 'missing' in redis ? redis.missing : '')
      return
    }
    const uri = new URL(mongo.uri)
    uri.pathname = `/plaza_bench_${process.pid}_${nodes}`
    const store = redis ? `${mongo.name} and Redis` : mongo.name
    const ground: Ground = { mongodbUri: uri.href, ...(redis ? { redisUrl: redis.url } : {}) }
    await run({ nodes, store }, ground)
  } finally {
    if ('stop' in mongo) await mongo.stop()
    if (redis && 'stop' in redis) await redis.stop()
  }
}

async function inTurn<T>(times: readonly unknown[], start: () => Promise<T>): Promise<T[]> {
  const started: T[] = []
  for (const _ of times) started.push(await start())
  return started
}
