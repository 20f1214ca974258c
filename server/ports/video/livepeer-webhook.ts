import { createHmac, timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '#shared/errors'
import { parsedJson } from './livepeer-api.ts'

/** Each try to deliver is signed with a time of its own. */
const mostAge = 5 * 60_000

const Told = z.object({
  id: z.string().min(1).max(200),
  timestamp: z.number(),
  event: z.string(),
  stream: z.object({ id: z.string().min(1).max(200), parentId: z.string().min(1).max(200).nullish() }).nullish(),
})

/** Verifies and reads a webhook call. Throws UNAUTHORIZED for an unsigned or old one. */
export function livepeerEventIn(
  body: Buffer,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secret: string,
  now: number,
): { id: string; event: string; streamId: string | null } {
  const header = String(headers['livepeer-signature'] ?? '')
  const right = createHmac('sha256', secret).update(body).digest()
  const isSigned = [...header.matchAll(/(?:^|,)\s*v1=([0-9a-f]{64})(?=,|$)/g)].some(([, mark = '']) =>
    timingSafeEqual(Buffer.from(mark, 'hex'), right),
  )
  const told = Told.safeParse(isSigned ? parsedJson(body.toString()) : null)
  if (!told.success || Math.abs(now - told.data.timestamp) > mostAge) throw new AppError('UNAUTHORIZED')
  const { id, event, stream } = told.data
  return { id, event, streamId: stream?.parentId ?? stream?.id ?? null }
}
