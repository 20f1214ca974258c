import type { Config } from '#server/config'
import { lockDirectory } from '#server/ports/database/embedded/lock'
import { mediaHosts } from '#server/ports/database/media-hosts'
import type { Database } from '#server/ports/database/port'
import { type OpenedVideo, openHosts, openSelfHosted } from '#server/ports/video/open'
import type { SessionKeys } from '#server/session-keys'
import type { PartsOf } from './part.ts'

export async function openVideo(
  { video }: Config,
  { alone, now }: Database,
  sessionKeys: SessionKeys,
): Promise<OpenedVideo | null> {
  if (video === null) return null
  if (video.livepeer) {
    const { livepeerVideo } = await import('#server/ports/video/livepeer')
    const { host } = new URL(video.livepeer.apiUrl)
    return {
      video: livepeerVideo(video.livepeer),
      adapter: host,
      why: 'LIVEPEER_API_KEY is set',
      close: async () => {},
    }
  }
  const secrets = sessionKeys.map(({ secret }) => secret)
  if (video.mediamtx) {
    const { mediaMtxVideo } = await import('#server/ports/video/mediamtx')
    const { host } = new URL(video.mediamtx.apiUrl)
    return {
      video: mediaMtxVideo(video.mediamtx, { secrets, now }),
      adapter: host,
      why: 'VIDEO_PROVIDER is mediamtx',
      close: async () => {},
    }
  }
  if (alone) return openSelfHosted(video)
  return openHosts(video, {
    hosts: mediaHosts(),
    ...video.reached,
    secrets,
    now,
    async lock(directory) {
      const held = await lockDirectory<'taken'>(directory, async () => 'taken')
      return held === 'taken' ? null : held
    },
  })
}

export const videoParts: PartsOf<'video'> = {
  video: (_config, opened) => {
    const part = 'livestreams'
    if (opened) return { part, adapter: opened.adapter, why: opened.why }
    return { part, adapter: 'none', why: 'VIDEO_PROVIDER is none: going live answers 503' }
  },
}
