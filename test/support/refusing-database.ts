import { type AddressInfo, createServer } from 'node:net'
import mongoose from 'mongoose'

const { serialize, deserialize } = mongoose.mongo.BSON
const headerBytes = 16
const opMessage = 2013
const opReply = 1

/** A server that speaks as MongoDB does, is there at once, and refuses everything else as `refusal` says. */
export async function refusingDatabase(refusal: { code: number; codeName: string; errmsg: string }) {
  const hello = {
    ok: 1,
    isWritablePrimary: true,
    ismaster: true,
    minWireVersion: 0,
    maxWireVersion: 25,
    localTime: new Date(),
  }
  const limits = { maxBsonObjectSize: 16_777_216, maxMessageSizeBytes: 48_000_000, maxWriteBatchSize: 100_000 }
  const answerTo = (command: Record<string, unknown>) =>
    'hello' in command || 'ismaster' in command || 'isMaster' in command
      ? { ...hello, ...limits }
      : { ok: 0, ...refusal }
  const server = createServer((socket) => {
    let heard: Buffer = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('data', (data) => {
      heard = Buffer.concat([heard, data])
      while (heard.length >= headerBytes && heard.length >= heard.readInt32LE(0)) {
        const message = heard.subarray(0, heard.readInt32LE(0))
        heard = heard.subarray(message.length)
        socket.write(answerOf(message, answerTo))
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { host: `127.0.0.1:${port}`, close: () => new Promise((resolve) => server.close(resolve)) }
}

/** Of a message of today or, for a first hello, of the older kind. */
function answerOf(message: Buffer, answerTo: (command: Record<string, unknown>) => object): Buffer {
  const isMessage = message.readInt32LE(12) === opMessage
  const command = isMessage ? message.subarray(21) : message.subarray(message.indexOf(0, 20) + 9)
  const body = serialize(answerTo(deserialize(command.subarray(0, command.readInt32LE(0)))))
  const before = isMessage ? Buffer.alloc(5) : Buffer.alloc(20)
  if (!isMessage) before.writeInt32LE(1, 16)
  const header = Buffer.alloc(headerBytes)
  header.writeInt32LE(headerBytes + before.length + body.length, 0)
  header.writeInt32LE(message.readInt32LE(4), 8)
  header.writeInt32LE(isMessage ? opMessage : opReply, 12)
  return Buffer.concat([header, before, body])
}
