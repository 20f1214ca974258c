import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { Onramp } from './port.ts'

const bounds = { timeoutMilliseconds: 5_000, maxBytes: 64 * 1024 }
/** Where the provider does not say how long its token is good. */
const lifeMilliseconds = 300_000

const Opened = z.object({
  token: z.string().min(1).max(4096),
  expires_at: z.iso.datetime({ offset: true }).optional(),
})

/** A provider that gives, for an address, the token of one purchase: one URL, asked with a bearer key. */
export const httpOnramp = (url: string, key: string): Onramp => ({
  async open(address, blockchains) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'application/json' }
    const body = JSON.stringify({ addresses: [{ address, blockchains }] })
    const { status, text } = await fetchText(url, { method: 'POST', headers, body }, bounds)
    const opened = Opened.safeParse(status === 200 ? read(text) : null)
    if (!opened.success) throw new AppError('UPSTREAM_ERROR', { message: 'The onramp provider refused' })
    const { token, expires_at: expiresAt } = opened.data
    return { token, expiresAt: new Date(expiresAt ?? Date.now() + lifeMilliseconds) }
  },
})

function read(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
