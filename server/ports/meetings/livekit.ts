import { SignJWT } from 'jose'
import { z } from 'zod'
import { postJson } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { enterSeconds, type Meetings } from './port.ts'

interface LiveKitConfig {
  /** The URL of clients: `wss://…`. Its API is at the same host. */
  url: string
  apiKey: string
  apiSecret: string
}

const askSeconds = 60
const create = { roomCreate: true }
/** The lifetime of an empty room. */
const emptySeconds = 300

/** Names are in either case, by the version of the server; what is 0 is left out. */
const Count = z.number().int().optional()
const Listed = z.object({
  rooms: z.array(z.object({ name: z.string(), num_participants: Count, numParticipants: Count })).default([]),
})

/** Rooms of a LiveKit server. Tokens are signed here by its API secret; its room service is called over HTTP. */
export function liveKitMeetings({ url, apiKey, apiSecret }: LiveKitConfig, clock: () => number): Meetings {
  const secret = new TextEncoder().encode(apiSecret)
  const api = `${url.replace(/^ws/, 'http').replace(/\/+$/, '')}/twirp/livekit.RoomService`

  function sign(subject: string, seconds: number, claims: Record<string, unknown>): Promise<string> {
    const now = Math.floor(clock() / 1_000)
    return new SignJWT(claims)
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
      .setIssuer(apiKey)
      .setSubject(subject)
      .setNotBefore(now)
      .setExpirationTime(now + seconds)
      .sign(secret)
  }

  async function ask(method: string, input: object, video: Record<string, unknown>) {
    const authorization = `Bearer ${await sign(apiKey, askSeconds, { video })}`
    return postJson(`${api}/${method}`, input, { authorization })
  }

  return {
    url,
    async admit({ room, identity, name, isHost }, most) {
      // One that is there already is answered as it is.
      const made = await ask('CreateRoom', { name: room, max_participants: most, empty_timeout: emptySeconds }, create)
      if (made.status !== 200) throw refused()
      const join = { room, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true }
      const video = isHost ? { ...join, roomAdmin: true } : join
      return sign(identity, enterSeconds, { name, video })
    },
    read: async () => null,
    async present(rooms) {
      if (rooms.length === 0) return new Map()
      const { status, answer } = await ask('ListRooms', { names: rooms }, { roomList: true })
      const listed = Listed.safeParse(status === 200 ? answer : null)
      if (!listed.success) throw refused()
      return new Map(
        listed.data.rooms.map(({ name, num_participants, numParticipants }) => [
          name,
          num_participants ?? numParticipants ?? 0,
        ]),
      )
    },
    async close(room) {
      const { status } = await ask('DeleteRoom', { room }, create)
      // 404: it was empty, and is gone.
      if (status !== 200 && status !== 404) throw refused()
    },
  }
}

const refused = () => new AppError('UPSTREAM_ERROR', { message: 'The provider of meetings refused' })
