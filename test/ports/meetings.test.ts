import { decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { liveKitMeetings } from '#server/ports/meetings/livekit'
import { localMeetings } from '#server/ports/meetings/local'
import { openProvider, type Provider } from '#test/support/providers'

const pass = { room: 'room-1', identity: '0xabc', name: 'Ann', isHost: false }
const apiSecret = 'a secret of the LiveKit server'
const secretOf = (text: string) => new TextEncoder().encode(text)

describe('meetings over this server', () => {
  const key = (id: string) => ({ id, secret: secretOf(`the secret of the key ${id}, long enough`) })
  let now = Date.now()
  const local = (...keys: string[]) => localMeetings({ keys: keys.map(key), now: () => now })

  test('a token lets in whom it names for ten minutes, also after the key was changed', async () => {
    for (const isHost of [true, false]) {
      const token = await local('old').admit({ ...pass, isHost }, 4)
      expect(await local('new', 'old').read(token)).toEqual({ ...pass, isHost })
      now += 599_000
      expect(await local('old').read(token)).toEqual({ ...pass, isHost })
      now += 2_000
      expect(await local('old').read(token)).toBe(null)
    }
  })

  test('nothing else lets in: no other key, no change, no session, no unsigned token', async () => {
    const token = await local('ours').admit(pass, 4)
    expect(await local('other').read(token)).toBe(null)
    const [head = '', body = '', sign = ''] = token.split('.')
    const host = Buffer.from(JSON.stringify({ ...decodeJwt(token), host: true })).toString('base64url')
    const none = Buffer.from('{"alg":"none","kid":"ours"}').toString('base64url')
    const spoilt = [`${head}.${host}.${sign}`, `${none}.${host}.`, `${head}.${body}`, '', 'x'.repeat(5_000)]
    for (const each of spoilt) expect(await local('ours').read(each)).toBe(null)
    const session = { issuer: 'plaza', audience: 'plaza', algorithms: ['HS256'] }
    await expect(jwtVerify(token, key('ours').secret, session)).rejects.toThrow('aud')
  })
})

describe('meetings at a LiveKit server', () => {
  const Asked = z.record(z.string(), z.unknown())
  let provider: Provider
  let seen: { path: string; body: unknown; video: unknown; issuer: unknown }[]
  let rooms: object[] = []
  beforeAll(async () => {
    provider = await openProvider(async (path, body, bearer = '') => {
      const { payload } = await jwtVerify(bearer, secretOf(apiSecret), { algorithms: ['HS256'] })
      seen.push({ path, body, video: payload.video, issuer: payload.iss })
      if (path.endsWith('/ListRooms')) return { status: 200, body: { rooms } }
      if (path.endsWith('/DeleteRoom') && Asked.parse(body).room === 'empty')
        return { status: 404, body: { code: 'not_found', msg: 'requested room does not exist' } }
      return { status: 200, body: {} }
    })
  })
  afterAll(() => provider.close())
  beforeEach(() => {
    seen = []
    provider.mood = 'well'
  })
  const liveKit = () =>
    liveKitMeetings({ url: provider.url.replace('http', 'ws'), apiKey: 'the key', apiSecret }, Date.now)
  const api = '/twirp/livekit.RoomService'

  test.each([true, false])(
    'a token has the documented claims; of a host (%s) the right to moderate',
    async (isHost) => {
      const token = await liveKit().admit({ ...pass, isHost }, 3)
      expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' })
      const { payload } = await jwtVerify(token, secretOf(apiSecret), { issuer: 'the key', subject: '0xabc' })
      const { exp = 0, nbf = 0, name, video } = payload
      expect({ life: exp - nbf, name }).toEqual({ life: 600, name: 'Ann' })
      const may = { room: 'room-1', roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true }
      expect(video).toEqual(isHost ? { ...may, roomAdmin: true } : may)
      const made = { name: 'room-1', max_participants: 3, empty_timeout: 300 }
      expect(seen).toEqual([{ path: `${api}/CreateRoom`, body: made, video: { roomCreate: true }, issuer: 'the key' }])
      expect(await liveKit().read(token)).toBe(null)
    },
  )

  test('it is asked who is there, and ends rooms, also those that are gone', async () => {
    rooms = [{ name: 'room-1', num_participants: 2 }, { name: 'room-2', numParticipants: 1 }, { name: 'room-3' }]
    const counts = await liveKit().present(['room-1', 'room-2', 'room-3', 'room-4'])
    expect([...(counts ?? [])]).toEqual([
      ['room-1', 2],
      ['room-2', 1],
      ['room-3', 0],
    ])
    expect(await liveKit().present([])).toEqual(new Map())
    await liveKit().close('room-1')
    await liveKit().close('empty')
    expect(seen.map(({ path, video }) => [path, video])).toEqual([
      [`${api}/ListRooms`, { roomList: true }],
      [`${api}/DeleteRoom`, { roomCreate: true }],
      [`${api}/DeleteRoom`, { roomCreate: true }],
    ])
  })

  test.each(['failing', 'elsewhere', 'lost'] as const)('one that is %s is UPSTREAM_ERROR', async (mood) => {
    provider.mood = mood
    for (const asked of [() => liveKit().admit(pass, 4), () => liveKit().present(['a']), () => liveKit().close('a')])
      await expect(asked()).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })

  test('junk in the place of counts is UPSTREAM_ERROR', async () => {
    provider.mood = 'junk'
    await expect(liveKit().present(['a'])).rejects.toMatchObject({ code: 'UPSTREAM_ERROR' })
  })
})
