import { parseArgs } from 'node:util'
import { seeded } from '#test/support/seeded'

/**
 * Estimates the cost of fan-out over many nodes, for people spread over rooms and rooms over nodes.
 * The costs of one node are those `npm run bench` measures; give your own.
 */
const { values: options } = parseArgs({
  options: {
    /** Connected people, rooms each listens to, people of a room (median; sizes follow a power law). */
    users: { type: 'string', default: '1000000' },
    rooms: { type: 'string', default: '8' },
    members: { type: 'string', default: '40' },
    /** Messages each person sends in an hour. */
    hourly: { type: 'string', default: '6' },
    /** Microseconds of CPU for a send judged, stored and answered; for a frame to one socket, and each message in it; for a hint applied on another node. */
    send: { type: 'string', default: '510' },
    frame: { type: 'string', default: '14' },
    message: { type: 'string', default: '0.6' },
    hint: { type: 'string', default: '60' },
    /** Milliseconds between two frames of a busy room. */
    turn: { type: 'string', default: '8' },
    /** Kilobytes of memory a connection; bytes of a message on the wire; share of a core that may be busy. */
    connection: { type: 'string', default: '20' },
    bytes: { type: 'string', default: '400' },
    busy: { type: 'string', default: '0.6' },
    seed: { type: 'string', default: '1' },
  },
})
const given = Object.fromEntries(Object.entries(options).map(([name, value]) => [name, Number(value)])) as Record<
  keyof typeof options,
  number
>
for (const [name, value] of Object.entries(given))
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name} must be a number`)

const random = seeded(given.seed)
const sizes = roomSizes()
const seats = sizes.reduce((sum, size) => sum + size, 0)
const sendsPerSecond = (given.users * given.hourly) / 3_600

interface Cost {
  nodes: number
  placement: string
  coresPerNode: number
  hintsPerSecond: number
  gigabytes: number
  megabits: number
}

const costs = [1, 4, 16, 64, 256].flatMap((nodes) => [cost(nodes, false), cost(nodes, true)])
print(costs)

/** People land on any node, or with `sharded` on the node that their room belongs to, for nine rooms in ten. */
function cost(nodes: number, sharded: boolean): Cost {
  let deliveries = 0
  let frames = 0
  let hints = 0
  for (const size of sizes) {
    const sends = sendsPerSecond * (size / seats)
    frames += size * Math.min(sends, 1_000 / given.turn)
    const others = sharded ? 0.1 * (nodesOf(size, nodes) - 1) : nodesOf(size, nodes) - 1
    deliveries += sends * size
    hints += sends * others
  }
  const fanout = frames * given.frame + deliveries * given.message
  const microseconds = sendsPerSecond * given.send + fanout + hints * given.hint
  return {
    nodes,
    placement: sharded ? 'by room' : 'anywhere',
    coresPerNode: microseconds / 1e6 / given.busy / nodes,
    hintsPerSecond: hints,
    gigabytes: (given.users * given.connection) / 1e6 / nodes,
    megabits: (deliveries * given.bytes * 8) / 1e6 / nodes,
  }
}

/** The expected number of nodes with a member of a room of this size, when members are on random nodes. */
function nodesOf(size: number, nodes: number): number {
  return nodes * (1 - (1 - 1 / nodes) ** size)
}

/** Creates few large rooms and many small ones, until everybody is in the wanted number of rooms. */
function roomSizes(): number[] {
  const wanted = given.users * given.rooms
  const most = Math.min(100_000, given.users)
  const found: number[] = []
  for (let filled = 0; filled < wanted && found.length < 2_000_000; ) {
    const size = Math.min(most, Math.max(2, Math.round((given.members / 2) * (1 - random()) ** -0.9)))
    found.push(size)
    filled += size
  }
  return found
}

function print(rows: readonly Cost[]): void {
  const largest = sizes.reduce((most, size) => Math.max(most, size), 0)
  console.log(
    `${given.users.toLocaleString('en')} people in ${sizes.length.toLocaleString('en')} rooms (largest ${largest.toLocaleString('en')}), ${Math.round(sendsPerSecond).toLocaleString('en')} sends/s\n`,
  )
  console.log('| nodes | people sit | cores a node | hints/s in all | GB a node | Mbit/s a node |')
  console.log('| ---: | --- | ---: | ---: | ---: | ---: |')
  for (const { nodes, placement, coresPerNode, hintsPerSecond, gigabytes, megabits } of rows)
    console.log(
      `| ${nodes} | ${placement} | ${shown(coresPerNode)} | ${shown(hintsPerSecond)} | ${shown(gigabytes)} | ${shown(megabits)} |`,
    )
}

function shown(value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en', { maximumFractionDigits: 2 })
}
