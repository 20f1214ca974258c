import { useCallback, useEffect, useRef, useState } from 'react'
import { mediaTexts as t } from '../texts/media.ts'

const webm = 'audio/webm;codecs=opus'
/** In their order: what most browsers play comes first. */
const kinds = [webm, 'audio/ogg;codecs=opus', 'audio/mp4'] as const
const bitsPerSecond = 32_000
const longestSeconds = 1_800
const tellMilliseconds = 100

/** As what this browser records a voice message; null where it cannot. What is sealed is WebM with Opus, as the others take it to be. */
export function recordedAs(isSealed: boolean): string | null {
  if (typeof MediaRecorder === 'undefined' || !('mediaDevices' in navigator)) return null
  return (isSealed ? [webm] : kinds).find((kind) => MediaRecorder.isTypeSupported(kind)) ?? null
}

/** So long that what is recorded stays below what can be uploaded, with what its container takes beside the sound. */
const mostSecondsOf = (mostBytes: number) => Math.min(longestSeconds, Math.floor((mostBytes * 8 * 0.8) / bitsPerSecond))

export interface Recorded {
  sound: Blob
  seconds: number
}

/**
 * Records from the microphone, from the first rendering on; `done` is called with what was recorded, or why it was not. Where it is taken off the
 * page meanwhile, what was recorded until then counts, and `isLeft`.
 */
export function useRecorder(
  { kind, mostBytes }: { kind: string; mostBytes: number },
  done: (recorded: Recorded | null, fault: string | null, isLeft: boolean) => void,
) {
  const [now, setNow] = useState({ seconds: 0, level: 0, isOn: false })
  const finish = useRef<(isWanted: boolean) => void>(() => {})
  const asked = useRef({ mimeType: kind, mostSeconds: mostSecondsOf(mostBytes) })
  const latest = useRef(done)
  latest.current = done

  useEffect(() => {
    let isOver = false
    let close = () => {}
    const { mimeType, mostSeconds } = asked.current
    const begin = async () => {
      const stream = await navigator.mediaDevices.getUserMedia({ audio: true })
      if (isOver) return stopAll(stream)
      const recorder = new MediaRecorder(stream, { mimeType, audioBitsPerSecond: bitsPerSecond })
      const level = levelOf(stream)
      const parts: Blob[] = []
      const began = performance.now()
      const passed = () => (performance.now() - began) / 1_000
      let seconds = 0
      let isWanted = false
      const timer = setInterval(() => {
        setNow({ seconds: passed(), level: level.read(), isOn: true })
        if (passed() >= mostSeconds) finish.current(true)
      }, tellMilliseconds)
      close = () => {
        clearInterval(timer)
        level.close()
        stopAll(stream)
        if (recorder.state !== 'inactive') recorder.stop()
      }
      finish.current = (wanted) => {
        if (recorder.state === 'inactive') return
        isWanted = wanted
        seconds = passed()
        recorder.stop()
      }
      recorder.ondataavailable = ({ data }) => parts.push(data)
      recorder.onstop = () => {
        close()
        if (isOver && !isWanted) return
        const sound = new Blob(parts, { type: typeOf(mimeType) })
        latest.current(isWanted && sound.size > 0 ? { sound, seconds } : null, null, isOver)
      }
      recorder.start()
      setNow({ seconds: 0, level: 0, isOn: true })
    }
    begin().catch((error) => {
      if (!isOver) latest.current(null, faultOf(error), false)
    })
    return () => {
      isOver = true
      finish.current(true)
      close()
    }
  }, [])

  return {
    ...now,
    stop: useCallback(() => finish.current(true), []),
    cancel: useCallback(() => {
      finish.current(false)
      latest.current(null, null, false)
    }, []),
  }
}

const typeOf = (mimeType: string) => mimeType.split(';')[0] ?? ''

const stopAll = (stream: MediaStream) => {
  for (const track of stream.getTracks()) track.stop()
}

/** How loud it is now, from 0 to 1. */
function levelOf(stream: MediaStream) {
  const context = new AudioContext()
  const analyser = context.createAnalyser()
  analyser.fftSize = 512
  context.createMediaStreamSource(stream).connect(analyser)
  const samples = new Float32Array(analyser.fftSize)
  return {
    read() {
      analyser.getFloatTimeDomainData(samples)
      return Math.min(
        1,
        samples.reduce((most, one) => Math.max(most, Math.abs(one)), 0),
      )
    },
    close: () => void context.close().catch(() => {}),
  }
}

function faultOf(error: unknown): string {
  const name = error instanceof Error ? error.name : ''
  if (name === 'NotAllowedError') return t.voice.notAllowed
  if (name === 'NotFoundError') return t.voice.notFound
  return t.voice.notOpened
}
