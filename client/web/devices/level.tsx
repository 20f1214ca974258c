import { useEffect, useRef } from 'react'
import { deviceTexts as t } from '../texts/devices.ts'
import styles from './devices.module.css'

const lookMilliseconds = 100
/** What is softer is not shown. */
const softest = -55

/** How loud the own microphone is now. Empty while it is off. */
export function Level({ track }: { track: MediaStreamTrack | null }) {
  const meter = useRef<HTMLMeterElement>(null)
  useEffect(() => {
    if (!track) return
    const context = new AudioContext()
    const analyser = new AnalyserNode(context, { fftSize: 1_024 })
    context.createMediaStreamSource(new MediaStream([track])).connect(analyser)
    const samples = new Float32Array(analyser.fftSize)
    const timer = setInterval(() => {
      analyser.getFloatTimeDomainData(samples)
      if (meter.current) meter.current.value = loudnessOf(samples)
    }, lookMilliseconds)
    return () => {
      clearInterval(timer)
      if (meter.current) meter.current.value = 0
      void context.close()
    }
  }, [track])
  return <meter ref={meter} className={styles.level} min={0} max={1} aria-label={t.level} />
}

/** From 0 to 1, by decibels. */
function loudnessOf(samples: Float32Array): number {
  const power = samples.reduce((sum, one) => sum + one * one, 0) / samples.length
  const decibels = 10 * Math.log10(power + 1e-12)
  return Math.min(1, Math.max(0, 1 - decibels / softest))
}
