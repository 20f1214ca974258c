const width = 1080
const height = 1920
const perSecond = 30

/** A clock and a tone, for who has no camera: the time is in the picture, so that the delay of a viewer can be read off. */
export function openTestPicture(): { media: MediaStream; close(): void } {
  const canvas = document.createElement('canvas')
  canvas.width = width
  canvas.height = height
  const context = canvas.getContext('2d')
  let frame = 0
  const draw = () => {
    if (!context) return
    frame += 1
    const now = new Date()
    context.fillStyle = '#101413'
    context.fillRect(0, 0, width, height)
    context.fillStyle = '#7fd1bd'
    context.fillRect(0, 300 + ((frame * 8) % 1_300), width, 24)
    context.beginPath()
    context.arc(width / 2, 560, 220, 0, ((now.getMilliseconds() + 1) / 1_000) * 2 * Math.PI)
    context.lineWidth = 28
    context.strokeStyle = '#f0b866'
    context.stroke()
    context.fillStyle = '#e9eeeb'
    context.textAlign = 'center'
    context.font = '600 150px ui-monospace, monospace'
    context.fillText(now.toTimeString().slice(0, 8), width / 2, 1_020)
    context.font = '400 90px ui-monospace, monospace'
    context.fillText(`.${String(now.getMilliseconds()).padStart(3, '0')}`, width / 2, 1_160)
    context.font = '400 64px system-ui, sans-serif'
    context.fillText('Test stream', width / 2, 1_760)
  }
  draw()
  const timer = setInterval(draw, 1_000 / perSecond)
  const picture = canvas.captureStream(perSecond)
  const sound = new AudioContext()
  const tone = new OscillatorNode(sound, { frequency: 440 })
  const quiet = new GainNode(sound, { gain: 0.05 })
  const out = sound.createMediaStreamDestination()
  tone.connect(quiet).connect(out)
  tone.start()
  return {
    media: new MediaStream([...picture.getVideoTracks(), ...out.stream.getAudioTracks()]),
    close() {
      clearInterval(timer)
      void sound.close()
    },
  }
}
