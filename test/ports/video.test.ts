import { fakeVideo } from '#server/ports/video/fake'
import { livepeerVideo } from '#server/ports/video/livepeer'
import { mediaMtxVideo } from '#server/ports/video/mediamtx'
import { configOfMediaMtx, openMediaMtx, paceOfTest, secretsOfTest } from '#test/support/mediamtx'
import { keepsVideoContract } from '#test/support/video-contract'
import { configOf, often, openStudio } from '#test/support/video-provider'

keepsVideoContract('in memory', async () => {
  const video = fakeVideo()
  return {
    video,
    async publish({ streamId }) {
      video.publish(streamId)
      return { stop: () => video.stop(streamId), lose: () => video.interrupt(streamId) }
    },
  }
})

keepsVideoContract('at Livepeer', async () => {
  const studio = await openStudio()
  return {
    video: livepeerVideo(configOf(studio), often),
    shortestKey: 16,
    close: () => studio.close(),
    async publish({ streamId }) {
      studio.publish(streamId)
      return { stop: () => studio.stop(streamId), lose: () => studio.lose(streamId) }
    },
  }
})

keepsVideoContract('at MediaMTX', async () => {
  const mediamtx = await openMediaMtx()
  const pace = paceOfTest()
  const config = configOfMediaMtx(mediamtx)
  const video = mediaMtxVideo(config, { secrets: secretsOfTest, now: () => 0 }, pace)
  mediamtx.askVideo(video)
  return {
    video,
    close: () => mediamtx.close(),
    async publish({ streamKey, playbackId }) {
      await mediamtx.publish(video.addresses.rtmp(streamKey))
      const leave = () => mediamtx.leave(`live/${playbackId}`)
      return {
        lose: leave,
        // It does not say why somebody left: who has left for longer than the grace has stopped.
        stop() {
          leave()
          pace.ahead += config.graceMs + 1
        },
      }
    },
  }
})
