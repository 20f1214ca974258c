import { z } from 'zod'
import { AppError } from '#shared/errors'
import { type MediaMtxKeys, playbackAt } from './mediamtx-keys.ts'

/** MediaMTX gives along what a client sent with its request: a bearer token or a password is the `token`. */
const Asked = z.object({
  action: z.string(),
  path: z.string().default(''),
  query: z.string().default(''),
  token: z.string().default(''),
})

/** Authorizes publishers for MediaMTX: returns the playback id of a right key; null for readers and this server. Throws UNAUTHORIZED. */
export function authorizedPlayback(body: Buffer, keys: MediaMtxKeys): string | null {
  const read = Asked.safeParse(parsed(body.toString()))
  if (!read.success) throw new AppError('UNAUTHORIZED')
  const { action, path, query, token } = read.data
  if (action === 'read' || action === 'playback') return null
  if (action === 'api' && keys.isToken(token)) return null
  const playbackId = action === 'publish' ? playbackAt(path) : null
  const given = new URLSearchParams(query).get('key') ?? token
  if (playbackId === null || !keys.isSecretOf(playbackId, given)) throw new AppError('UNAUTHORIZED')
  return playbackId
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
