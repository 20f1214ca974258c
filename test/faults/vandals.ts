import { setTimeout as pause } from 'node:timers/promises'
import { io } from 'socket.io-client'
import { doorsOf, linksOf, type World } from './world.ts'

const milliseconds = 1_500
const voices = 12
let spoken = 0

/** People whose bytes are changed on the way, both ways: whatever becomes of it, the others go on in one order. */
export async function spoil({ cluster, vandals }: World): Promise<void> {
  if (!vandals) return
  const links = linksOf(cluster.nodes, 'vandals')
  for (const link of links) link.trouble = { corruptEvery: 3 }
  const before = links.reduce((sum, { flips }) => sum + flips, 0)
  const end = Date.now() + milliseconds
  const doors = doorsOf(cluster, 'vandals')
  await Promise.all(
    Array.from({ length: voices }, async (_, at) => {
      const token = vandals.people[at % vandals.people.length]?.token ?? ''
      while (Date.now() < end) await speak(doors[at % doors.length] ?? '', token, vandals.room.id)
    }),
  )
  for (const link of links) {
    link.trouble = {}
    link.cut()
  }
  vandals.flips += links.reduce((sum, { flips }) => sum + flips, 0) - before
}

/** Connects, says a few things, and does not care for the answers. */
async function speak(url: string, token: string, id: string): Promise<void> {
  const socket = io(`${url}/rooms`, { transports: ['websocket'], auth: { token }, forceNew: true, reconnection: false })
  socket.emit('room:join', { room: { type: 'channel', id } })
  for (let said = 0; said < 20; said++) {
    socket.emit('message:send', { room: { type: 'channel', id }, client_msg_id: `vandal-${++spoken}`, text: 'spoilt' })
    await pause(10)
  }
  socket.disconnect()
}
