import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

/** The first character says whether it is recorded: the configuration of MediaMTX reads it. */
const Playback = /^([rn])[0-9a-f]{32}$/
const folder = 'live/'
const ours = 'mediamtx-'

/** A random name for viewers. */
export const newPlayback = (record: boolean): string => `${record ? 'r' : 'n'}${randomBytes(16).toString('hex')}`

export const isRecorded = (playbackId: string): boolean => Playback.exec(playbackId)?.[1] === 'r'

export const pathOf = (playbackId: string): string => `${folder}${playbackId}`

/** Null for a path that is not one of ours. */
export function playbackAt(path: string): string | null {
  const playbackId = path.startsWith(folder) ? path.slice(folder.length) : ''
  return Playback.test(playbackId) ? playbackId : null
}

export const streamIdOf = (playbackId: string): string => `${ours}${playbackId}`

/** Null for an id that is not one of ours. */
export function playbackOf(streamId: string): string | null {
  const playbackId = streamId.startsWith(ours) ? streamId.slice(ours.length) : ''
  return Playback.test(playbackId) ? playbackId : null
}

export interface MediaMtxKeys {
  /** The key with which the stream is published. */
  secretOf(playbackId: string): string
  isSecretOf(playbackId: string, given: string): boolean
  /** The password of this server at MediaMTX. */
  token(): string
  isToken(given: string): boolean
}

/** Keys that are derived from the installation's, newest first. Every node has them, and nothing is stored. */
export function mediaMtxKeys(secrets: readonly Uint8Array[]): MediaMtxKeys {
  const made = (secret: Uint8Array, what: string) =>
    createHmac('sha256', secret).update(`mediamtx ${what}`).digest('base64url')
  const newest = (what: string) => {
    const [secret] = secrets
    if (!secret) throw new Error('There is no key to make others from')
    return made(secret, what)
  }
  const isOne = (what: string, given: string) => secrets.some((secret) => isSame(made(secret, what), given))
  const publishing = (playbackId: string) => `publish ${playbackId}`
  return {
    secretOf: (playbackId) => newest(publishing(playbackId)),
    isSecretOf: (playbackId, given) => isOne(publishing(playbackId), given),
    token: () => newest('api'),
    isToken: (given) => isOne('api', given),
  }
}

function isSame(right: string, given: string): boolean {
  const [one, other] = [Buffer.from(right), Buffer.from(given)]
  return one.length === other.length && timingSafeEqual(one, other)
}
