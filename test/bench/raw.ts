import { WebSocketServer } from 'ws'

// The lower bound: a plain WebSocket server that implements just enough for the driver, with one frame a message.
const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false })
const joined = new Set<import('ws').WebSocket>()

server.on('connection', (socket) => {
  socket.send('0{}')
  socket.on('close', () => joined.delete(socket))
  socket.on('message', (data: Buffer) => {
    const text = data.toString()
    if (text === '40') return socket.send('40{}')
    const bracket = text.indexOf('[')
    const ack = text.slice(2, bracket)
    const [event, payload] = JSON.parse(text.slice(bracket)) as [string, object]
    if (event === 'join') joined.add(socket)
    else {
      const frame = `42${JSON.stringify(['message', { ...payload, at: Date.now() }])}`
      for (const member of joined) member.send(frame)
    }
    socket.send(`43${ack}[{"ok":true}]`)
  })
})
server.on('listening', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`open: http://127.0.0.1:${address?.port}`)
})
