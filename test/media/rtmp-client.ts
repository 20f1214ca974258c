import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type Amf, decodeAmf, encodeAmf } from '#server/media/rtmp'
import { chunkReader, writeMessage } from '#server/media/rtmp-chunks'
import {
  type AudioConfig,
  type AudioFrame,
  type VideoConfig,
  type VideoFrame,
  videoTimescale,
} from '#server/media/tracks'
import { closed } from '#test/support/closed'

export interface RtmpClient {
  socket: Socket
  /** The first code of a status that the server sends; null where it ends the connection without one. */
  answer: Promise<string | null>
  configure(tracks: { video?: VideoConfig; audio?: AudioConfig }): void
  video(frame: VideoFrame): void
  audio(frame: AudioFrame, rate: number): void
  /** As who means to stop. */
  unpublish(): Promise<void>
}

export const tagOfVideo = ({ key, data, offset }: Omit<VideoFrame, 'time'>, kind = 1) => {
  const head = Buffer.from([key ? 0x17 : 0x27, kind, 0, 0, 0])
  head.writeIntBE(Math.round(offset / 90), 2, 3)
  return Buffer.concat([head, data])
}
export const tagOfAudio = (data: Uint8Array, kind = 1) => Buffer.concat([Buffer.from([0xaf, kind]), data])

export const opening = () => Buffer.concat([Buffer.from([3]), Buffer.alloc(2 * 1536)])
export const commandOf = (...values: Amf[]) =>
  writeMessage({ type: 20, stream: 0, time: 0, body: encodeAmf(...values) }, 3, 128)
export const mediaOf = (type: number, time: number, body: Buffer) =>
  writeMessage({ type, stream: 1, time, body }, type === 9 ? 6 : 4, 128)

/** Publishes as OBS does, as small as can be. */
export async function publishRtmp(port: number, key: string, host = '127.0.0.1'): Promise<RtmpClient> {
  const socket = connect(port, host)
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  let skipped = 1 + 2 * 1536
  const answer = new Promise<string | null>((resolve) => {
    const reader = chunkReader(({ type, body }) => {
      if (type !== 20) return
      const [name, , , info] = decodeAmf(body)
      if (name === 'onStatus') resolve(String((info as { code?: Amf }).code))
    })
    socket.on('data', (data) => {
      const bytes = data.subarray(skipped)
      skipped = Math.max(0, skipped - data.length)
      reader.push(bytes)
    })
    socket.on('close', () => resolve(null))
  })
  socket.write(opening())
  socket.write(commandOf('connect', 1, { app: 'live', type: 'nonprivate', tcUrl: 'rtmp://127.0.0.1/live' }))
  socket.write(commandOf('releaseStream', 2, null, key))
  socket.write(commandOf('createStream', 3, null))
  socket.write(commandOf('publish', 4, null, key, 'live'))
  const media = (type: number, time: number, body: Buffer) => void socket.write(mediaOf(type, time, body))
  return {
    socket,
    answer,
    configure({ video, audio }) {
      if (video) media(9, 0, tagOfVideo({ key: true, offset: 0, data: video.description }, 0))
      if (audio) media(8, 0, tagOfAudio(audio.description, 0))
    },
    video: (frame) => media(9, Math.round((frame.time * 1000) / videoTimescale), tagOfVideo(frame)),
    audio: ({ time, data }, rate) => media(8, Math.round((time * 1000) / rate), tagOfAudio(data)),
    async unpublish() {
      socket.write(commandOf('deleteStream', 5, null, 1))
      socket.end()
      await closed(socket)
    },
  }
}
