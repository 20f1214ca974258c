import { streamTexts as t } from '../texts/streams.ts'

const width = 1080
const height = 1920
const perSecond = 30

/** The time in milliseconds, at the places and in the order of the clock that the server makes (`server/media/clock-picture.ts`). */
const bits = { count: 48, inRow: 16, columns: 20, rows: 30, left: 2, top: 17 }

/** Squares that are light or dark, so that a program can read the time off a picture. */
function drawBits(context: CanvasRenderingContext2D, milliseconds: number): void {
  const [wide, high] = [width / bits.columns, height / bits.rows]
  for (const [at, bit] of [...milliseconds.toString(2).padStart(bits.count, '0')].entries()) {
    context.fillStyle = bit === '1' ? '#e9eeeb' : '#101413'
    const [column, row] = [bits.left + (at % bits.inRow), bits.top + Math.floor(at / bits.inRow)]
    context.fillRect(column * wide, row * high, wide, high)
  }
}

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
    context.fillText(now.toTimeString().slice(0, 8), width / 2, 940)
    context.font = '400 90px ui-monospace, monospace'
    context.fillText(`.${String(now.getMilliseconds()).padStart(3, '0')}`, width / 2, 1_055)
    drawBits(context, now.getTime())
    context.font = '400 64px system-ui, sans-serif'
    context.fillText(t.trouble.testPicture, width / 2, 1_760)
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
