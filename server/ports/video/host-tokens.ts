import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MediaRequest } from './port.ts'

/** By which nodes of an installation know each other. */
export interface HostTokens {
  headersFor(host: string, asked: MediaRequest): Readonly<Record<string, string>>
  isGood(authorization: string | undefined, host: string, asked: MediaRequest): boolean
}

const goodMilliseconds = 30_000

/** Made for one host, one method and path, and a short time; the first secret signs, all verify. */
export function hostTokens(secrets: readonly Uint8Array[], now: () => number): HostTokens {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'plaza media hosts', 32)))
  const signed = (key: Buffer, host: string, { method, path }: MediaRequest, time: string) =>
    createHmac('sha256', key).update(`${host} ${time} ${method} ${path}`).digest()
  return {
    headersFor(host, asked) {
      const [key] = keys
      const time = String(now())
      return key ? { authorization: `Host ${time}.${signed(key, host, asked, time).toString('base64url')}` } : {}
    },
    isGood(authorization, host, asked) {
      const [, time = '', given = ''] = /^Host (\d{1,16})\.([\w-]{43})$/.exec(authorization ?? '') ?? []
      if (time === '' || Math.abs(now() - Number(time)) > goodMilliseconds) return false
      return keys.some((key) => timingSafeEqual(signed(key, host, asked, time), Buffer.from(given, 'base64url')))
    },
  }
}
