const perSecond = 5

/** A dark picture of a size, for who turns the camera off: without any picture a stream counts as interrupted. */
export function openBlankPicture({ width = 1280, height = 720 }: MediaTrackSettings): {
  track: MediaStreamTrack | null
  close(): void
} {
  const canvas = document.createElement('canvas')
  Object.assign(canvas, { width, height })
  const context = canvas.getContext('2d')
  let isEven = false
  // A canvas gives a picture only when it is drawn on.
  const timer = setInterval(() => {
    isEven = !isEven
    if (!context) return
    context.fillStyle = isEven ? '#0b0f0e' : '#0b0f0f'
    context.fillRect(0, 0, width, height)
  }, 1_000 / perSecond)
  const [track = null] = canvas.captureStream(perSecond).getVideoTracks()
  return {
    track,
    close() {
      clearInterval(timer)
      track?.stop()
    },
  }
}
