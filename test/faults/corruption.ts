import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { doorsOf, linksOf, type World } from './world.ts'

const flipsAtLeast = 75
const mostMilliseconds = 45_000
const voices = 12
const pieces = 20
const pieceMilliseconds = 10
const openMilliseconds = 500
let spoken = 0

/** Changes bytes of some people in transit, in both directions; all others must still see one order. */
export async function corrupt({ cluster, corrupted }: World): Promise<void> {
  if (!corrupted) return
  const links = linksOf(cluster.nodes, 'corrupted')
  for (const link of links) link.trouble = { corruptEvery: 3 }
  const flips = () => links.reduce((sum, link) => sum + link.flips, 0)
  const before = flips()
  const end = Date.now() + mostMilliseconds
  const isEnough = () => flips() - before >= flipsAtLeast || Date.now() > end
  const doors = doorsOf(cluster, 'corrupted')
  await Promise.all(
    Array.from({ length: voices }, async (_, at) => {
      const token = corrupted.people[at % corrupted.people.length]?.token ?? ''
      while (!isEnough()) await speak(doors[at % doors.length] ?? '', token, corrupted.room.id)
    }),
  )
  for (const link of links) {
    link.trouble = {}
    link.cut()
  }
  corrupted.flips += flips() - before
}

/** Sends a few messages as raw frames, as a client library would stop at the corrupted answers. */
async function speak(url: string, token: string, id: string): Promise<void> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/socket.io/?EIO=4&transport=websocket`)
  socket.on('error', () => {})
  await Promise.race([
    new Promise((resolve) => socket.once('open', resolve).once('close', resolve)),
    pause(openMilliseconds),
  ])
  const room = { type: 'channel', id }
  const packets = [
    `40/rooms,${JSON.stringify({ token })}`,
    `42/rooms,${JSON.stringify(['room:join', { room }])}`,
    ...Array.from({ length: pieces }, () => {
      const message = { room, client_msg_id: `corrupted-${++spoken}`, text: 'spoilt' }
      return `42/rooms,${JSON.stringify(['message:send', message])}`
    }),
  ]
  for (const packet of packets) {
    if (socket.readyState === WebSocket.OPEN) socket.send(packet)
    await pause(pieceMilliseconds)
  }
  socket.terminate()
}
