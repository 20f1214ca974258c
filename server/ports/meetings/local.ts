import { jwtVerify, SignJWT } from 'jose'
import { z } from 'zod'
import { enterSeconds, type Meetings } from './port.ts'

const algorithm = 'HS256'
const issuer = 'plaza'
/** Neither a session nor anything else that these keys sign is good here, or the other way round. */
const audience = 'plaza:meeting'
const longestToken = 4_096

const Claims = z.object({ sub: z.string(), room: z.string(), name: z.string(), host: z.boolean() })

interface Local {
  /** The newest first. */
  keys: readonly { id: string; secret: Uint8Array }[]
  now(): number
}

/** People meet over the sockets of this server, by tokens that it signs itself. */
export const localMeetings = ({ keys, now }: Local): Meetings => ({
  url: null,
  async admit({ room, identity, name, isHost }) {
    const [newest] = keys
    if (!newest) throw new Error('There is no session key')
    const seconds = Math.floor(now() / 1_000)
    return new SignJWT({ room, name, host: isHost })
      .setProtectedHeader({ alg: algorithm, typ: 'JWT', kid: newest.id })
      .setIssuer(issuer)
      .setAudience(audience)
      .setSubject(identity)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + enterSeconds)
      .sign(newest.secret)
  },
  async read(token) {
    if (token.length > longestToken) return null
    const keyOf = ({ kid }: { kid?: string }) => {
      const key = keys.find(({ id }) => id === kid)
      if (!key) throw new Error('Signed by no key of ours')
      return key.secret
    }
    const rules = { algorithms: [algorithm], issuer, audience, requiredClaims: ['exp'], currentDate: new Date(now()) }
    const verified = await jwtVerify(token, keyOf, rules).catch(() => null)
    const claims = Claims.safeParse(verified?.payload)
    if (!claims.success) return null
    const { sub: identity, room, name, host: isHost } = claims.data
    return { room, identity, name, isHost }
  },
  present: async () => null,
  close: async () => {},
})
