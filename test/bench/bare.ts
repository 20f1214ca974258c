import { createServer } from 'node:http'
import { parseArgs } from 'node:util'
import { createShardedAdapter } from '@socket.io/redis-adapter'
import { Redis } from 'ioredis'
import { Server } from 'socket.io'
import { z } from 'zod'

// A bare Socket.IO server for comparison: it broadcasts to everybody, and checks, orders and stores nothing. --redis connects several.
const { values: options } = parseArgs({ options: { redis: { type: 'string' } } })
const server = createServer()
const io = new Server(server, {
  transports: ['websocket'],
  serveClient: false,
  perMessageDeflate: false,
  ...(options.redis ? { adapter: createShardedAdapter(new Redis(options.redis), new Redis(options.redis)) } : {}),
})
const Joined = z.object({ room: z.string() })
const Sent = z.object({ room: z.string(), cid: z.string(), text: z.string() })

io.on('connection', (socket) => {
  socket.on('join', async ({ room }: z.infer<typeof Joined>, acknowledge: (answer: unknown) => void) => {
    await socket.join(room)
    acknowledge({ ok: true })
  })
  socket.on('send', ({ room, cid, text }: z.infer<typeof Sent>, acknowledge: (answer: unknown) => void) => {
    io.to(room).emit('message', { cid, text, sender: socket.id, at: Date.now() })
    acknowledge({ ok: true })
  })
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`open: http://127.0.0.1:${address?.port}`)
})
