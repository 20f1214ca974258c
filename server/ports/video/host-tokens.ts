import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'
import type { MediaRequest } from './port.ts'

/** A request with its signed bytes; media pass unsigned. */
export interface SignedRequest extends MediaRequest {
  body?: Uint8Array
}

/** Signatures by which nodes authenticate each other. */
export interface HostTokens {
  headersFor(host: string, asked: SignedRequest): Readonly<Record<string, string>>
  isGood(authorization: string | undefined, host: string, asked: SignedRequest): boolean
}

const goodMilliseconds = 30_000

/** Bound to host, method, path, body if any, and a short time; the first secret signs, all verify. */
export function hostTokens(secrets: readonly Uint8Array[], now: () => number): HostTokens {
  const keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'plaza media hosts', 32)))
  function signed(key: Buffer, host: string, { method, path, body }: SignedRequest, time: string): Buffer {
    const parts = [host, time, method, path, ...(body ? [createHash('sha256').update(body).digest('hex')] : [])]
    return createHmac('sha256', key).update(parts.join(' ')).digest()
  }
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
