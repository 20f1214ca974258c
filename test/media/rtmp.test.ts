import { once } from 'node:events'
import { type AddressInfo, connect, type Socket } from 'node:net'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { createKeys, digestOf, newKey } from '#server/media/engine'
import { decodeAmf, encodeAmf, flvReader, rtmpServer } from '#server/media/rtmp'
import { chunkReader, type Message, writeMessage } from '#server/media/rtmp-chunks'
import type { AudioFrame, Tracks, VideoFrame } from '#server/media/tracks'
import { commandOf, mediaOf, opening, publishRtmp, tagOfAudio, tagOfVideo } from '#test/media/rtmp-client'
import { closed } from '#test/support/closed'
import { pictures, sounds, tone } from './pictures.ts'

const ended: (() => void)[] = []
afterEach(() => {
  for (const end of ended.splice(0)) end()
})

async function listen() {
  const keys = createKeys<string>()
  const key = newKey('0a0b0c0d')
  keys.add(digestOf(key), 'stream')
  const heard = {
    tracks: {} as Partial<Tracks>,
    video: [] as VideoFrame[],
    audio: [] as AudioFrame[],
    ends: [] as boolean[],
    publishers: 0,
  }
  const server = rtmpServer({
    publish(given) {
      if (keys.find(given) === null) return null
      heard.publishers++
      return {
        configure: (tracks) => void Object.assign(heard.tracks, tracks),
        video: (frame) => void heard.video.push(frame),
        audio: (frame) => void heard.audio.push(frame),
        end: (isMeant) => void heard.ends.push(isMeant),
      }
    },
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ended.push(() => server.close())
  const { port } = server.address() as AddressInfo
  const publish = async (given = key) => {
    const client = await publishRtmp(port, given)
    ended.push(() => client.socket.destroy())
    return client
  }
  return { port, key, heard, publish }
}

describe('RTMP', () => {
  test('takes pictures and sounds of who has the key', async () => {
    const { heard, publish } = await listen()
    const client = await publish()
    expect(await client.answer).toBe('NetStream.Publish.Start')
    const { config, frames } = pictures(12)
    client.configure({ video: config, audio: tone })
    for (const frame of frames) client.video(frame)
    for (const one of sounds(20)) client.audio(one, 48_000)
    await expect.poll(() => heard.audio.length).toBe(20)
    expect(heard.tracks).toEqual({ video: config, audio: tone })
    expect(heard.video).toEqual(frames)
    await client.unpublish()
    expect(heard.ends).toEqual([true])
  })

  test('who is cut off has not meant to stop', async () => {
    const { heard, publish } = await listen()
    const client = await publish()
    await client.answer
    client.socket.resetAndDestroy()
    await expect.poll(() => heard.ends).toEqual([false])
  })

  test('guessed keys are refused, each', async () => {
    const { heard, publish } = await listen()
    const clients = await Promise.all(Array.from({ length: 15 }, () => publish(newKey('0a0b0c0d'))))
    const answers = await Promise.all(clients.map(({ answer }) => answer))
    expect(new Set(answers)).toEqual(new Set(['NetStream.Publish.BadName']))
    expect(heard.publishers).toBe(0)
  })

  test('O03: of a flood of connections from one address few are heard at all, and who publishes there goes on', async () => {
    const { port, heard, publish } = await listen()
    const client = await publish()
    expect(await client.answer).toBe('NetStream.Publish.Start')
    const { config, frames } = pictures(6)
    client.configure({ video: config })
    let answered = 0
    const flood = Array.from({ length: 800 }, () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).once('data', () => answered++)
      socket.write(Buffer.concat([opening(), commandOf('publish', 2, null, 'wrong')]))
      return closed(socket)
    })
    for (const frame of frames) client.video(frame)
    await Promise.all(flood)
    // They may fall into several seconds.
    expect(answered).toBeLessThan(500)
    await expect.poll(() => heard.video.length).toBe(frames.length)
    expect([heard.ends, client.socket.destroyed]).toEqual([[], false])
  })

  test('O03: of those that publish nothing one of the same address gives way, and of another where most wait', async () => {
    const { port } = await listen()
    const open = async () => {
      const socket = connect(port, '127.0.0.1')
      socket.on('error', () => undefined).resume()
      ended.push(() => socket.destroy())
      await once(socket, 'connect')
      return socket
    }
    const waiting: Socket[] = []
    for (let one = 0; one < 30; one++) waiting.push(await open())
    await expect.poll(() => waiting.filter(({ destroyed }) => destroyed).length).toBe(10)
    expect(waiting.slice(0, 10).every(({ destroyed }) => destroyed)).toBe(true)
  })

  test.each(['', ' ', '../live', 'x'.repeat(10_000)])('the key %.9s is refused', async (given) => {
    const { publish } = await listen()
    expect(await (await publish(given)).answer).toBe('NetStream.Publish.BadName')
  })

  test('who was refused is not heard again in the same connection', async () => {
    const { port, key, heard } = await listen()
    const other = connect(port, '127.0.0.1')
    other.on('error', () => undefined).resume()
    other.write(Buffer.concat([opening(), commandOf('publish', 1, null, 'wrong'), commandOf('publish', 2, null, key)]))
    await closed(other)
    expect(heard.publishers).toBe(0)
  })

  test('other codecs are refused with a reason', async () => {
    const { heard, publish } = await listen()
    const client = await publish()
    await client.answer
    client.socket.write(mediaOf(9, 0, Buffer.from([0x90, 0x68, 0x76, 0x63, 0x31])))
    await closed(client.socket)
    expect(heard.ends).toEqual([false])
  })

  test.each([
    ['speaks HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['announces a message of 16 MB', Buffer.concat([opening(), Buffer.from('03000000ffffff1400000000', 'hex')])],
    ['goes on with what did not begin', Buffer.concat([opening(), Buffer.from('c4', 'hex')])],
    [
      'nests deeply',
      Buffer.concat([
        opening(),
        writeMessage(
          {
            type: 20,
            stream: 0,
            time: 0,
            body: Buffer.from(
              '030001610300016103000161030001610300016103000161030001610300016103000161'.repeat(4),
              'hex',
            ),
          },
          3,
          128,
        ),
      ]),
    ],
    ['asks to play', Buffer.concat([opening(), commandOf('play', 1, null, 'x')])],
  ])('who %s is sent away', async (_what, bytes) => {
    const { port } = await listen()
    const other = connect(port, '127.0.0.1')
    other.on('error', () => undefined).resume()
    other.write(bytes)
    await closed(other)
  })
})

/** A whole session as bytes: what is sent after the handshake. */
function session(): Buffer {
  const { config, frames } = pictures(3)
  return Buffer.concat([
    commandOf('connect', 1, { app: 'live' }),
    commandOf('publish', 4, null, 'key', 'live'),
    mediaOf(9, 0, tagOfVideo({ key: true, offset: 0, data: config.description }, 0)),
    mediaOf(8, 0, tagOfAudio(tone.description, 0)),
    ...frames.map((frame, index) => mediaOf(9, index * 100, tagOfVideo(frame))),
    ...sounds(5).map(({ data }, index) => mediaOf(8, index * 21, tagOfAudio(data))),
  ])
}

/** All that the server answers, or the refusal that ends the connection. */
function read(bytes: Buffer, pieces: number): { messages: Message[]; refused: boolean; most: number } {
  const messages: Message[] = []
  const flv = flvReader({ configure: () => undefined, video: () => undefined, audio: () => undefined })
  const reader = chunkReader((message) => messages.push(message))
  let most = 0
  try {
    for (let at = 0; at < bytes.length; at += pieces) {
      reader.push(bytes.subarray(at, at + pieces))
      most = Math.max(most, reader.held)
    }
    for (const { type, time, body } of messages) {
      if (type === 20) decodeAmf(body)
      if (type === 9) flv.video(time, body)
      if (type === 8) flv.audio(time, body)
    }
    return { messages, refused: false, most }
  } catch (error) {
    if (!(error instanceof RangeError) && (error as Error).constructor.name !== 'UnknownCodec') throw error
    return { messages, refused: true, most }
  }
}

describe('hostile bytes', () => {
  test('however they are cut, the messages are the same', () => {
    const bytes = session()
    const whole = read(bytes, bytes.length)
    expect(whole.messages.length).toBe(12)
    for (const pieces of [1, 7, 129, 1000]) expect(read(bytes, pieces).messages).toEqual(whole.messages)
  })

  test('a session with wrong bytes is read or refused, in little memory', () => {
    const bytes = session()
    const wrong = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 20 })
    fc.assert(
      fc.property(wrong, fc.integer({ min: 1, max: 5000 }), (changes, pieces) => {
        const given = Buffer.from(bytes)
        for (const [at, value] of changes) given[at] = value
        expect(read(given, pieces).most).toBeLessThan(16 * 2 ** 20)
      }),
      { numRuns: 300 },
    )
  })

  test('random bytes are read or refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), (bytes) => void read(Buffer.from(bytes), 100)),
      { numRuns: 500 },
    )
  })

  test('values are what was written, and random ones are read or refused', () => {
    const values = [1.5, true, 'text', null, { a: { b: 'c' }, d: 2 }]
    expect(decodeAmf(encodeAmf(...values))).toEqual(values)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        try {
          decodeAmf(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(RangeError)
        }
      }),
      { numRuns: 1000 },
    )
  })

  test('many messages that do not end are refused before they take much', () => {
    let refused = false
    let most = 0
    const reader = chunkReader(() => undefined)
    try {
      for (let id = 3; id < 40; id++) {
        const head = Buffer.from([id, 0, 0, 0, 0x7f, 0xff, 0xff, 9, 1, 0, 0, 0])
        reader.push(Buffer.concat([head, Buffer.alloc(128)]))
        for (let chunk = 0; chunk < 8000; chunk++) {
          reader.push(Buffer.concat([Buffer.from([0xc0 | id]), Buffer.alloc(128)]))
          most = Math.max(most, reader.held)
        }
      }
    } catch {
      refused = true
    }
    expect(refused).toBe(true)
    expect(most).toBeLessThan(13 * 2 ** 20)
  })
})
