import { z } from 'zod'
import { postJson } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import type { Onramp } from './port.ts'

/** The default lifetime of a token. */
const lifeMilliseconds = 300_000

const Opened = z.object({
  token: z.string().min(1).max(4096),
  expires_at: z.iso.datetime({ offset: true }).optional(),
})

/** A provider that gives, for an address, the token of one purchase: one URL, asked with a bearer key. */
export const httpOnramp = (url: string, key: string): Onramp => ({
  async open(address, blockchains) {
    const headers = { authorization: `Bearer ${key}` }
    const { status, answer } = await postJson(url, { addresses: [{ address, blockchains }] }, headers)
    const opened = Opened.safeParse(status === 200 ? answer : null)
    if (!opened.success) throw new AppError('UPSTREAM_ERROR', { message: 'The onramp provider refused' })
    const { token, expires_at: expiresAt } = opened.data
    return { token, expiresAt: new Date(expiresAt ?? Date.now() + lifeMilliseconds) }
  },
})
