/** A longer sound is shown without its waveform: to make one, it is held in memory unpacked. */
const mostBytes = 2_000_000
const samplesPerSecond = 8_000
const barCount = 48

export interface Waveform {
  /** Loudness from 0 to 1. */
  bars: readonly number[]
  seconds: number
}

export const flat: readonly number[] = Array.from({ length: barCount }, () => 0.1)

/** The waveform of a sound; null where it is too long for one. Rejects where it is no sound. */
export async function waveformOf(sound: Blob): Promise<Waveform | null> {
  if (sound.size > mostBytes) return null
  const context = new OfflineAudioContext(1, 1, samplesPerSecond)
  const decoded = await context.decodeAudioData(await sound.arrayBuffer())
  const samples = decoded.getChannelData(0)
  const step = Math.max(1, Math.floor(samples.length / barCount))
  const loud = flat.map((_, bar) => loudest(samples.subarray(bar * step, (bar + 1) * step)))
  const most = Math.max(...loud, 0.01)
  return { bars: loud.map((one) => Math.max(one / most, 0.06)), seconds: decoded.duration }
}

const loudest = (samples: Float32Array): number => samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0)
