import { useEffect, useRef, useState } from 'react'

let playing: HTMLAudioElement | null = null

/** Plays one sound of the page at a time. `seconds` is its length, as the message tells it until the browser knows. */
export function usePlayback(src: string | null, seconds: number) {
  const audio = useRef<HTMLAudioElement | null>(null)
  const [state, setState] = useState({ isPlaying: false, isFaulty: false, at: 0 })
  useEffect(() => {
    if (!src) return
    const element = new Audio(src)
    const note = (next: Partial<typeof state>) => setState((before) => ({ ...before, ...next }))
    element.preload = 'metadata'
    element.ontimeupdate = () => note({ at: element.currentTime })
    element.onplay = () => note({ isPlaying: true })
    element.onpause = () => note({ isPlaying: false })
    element.onended = () => note({ isPlaying: false, at: 0 })
    element.onerror = () => note({ isFaulty: true, isPlaying: false })
    audio.current = element
    setState({ isPlaying: false, isFaulty: false, at: 0 })
    return () => {
      element.pause()
      element.removeAttribute('src')
      if (playing === element) playing = null
    }
  }, [src])

  const toggle = async () => {
    const element = audio.current
    if (!element) return
    if (!element.paused) return element.pause()
    if (playing !== element) playing?.pause()
    playing = element
    if (element.ended || element.currentTime >= seconds) element.currentTime = 0
    // A sound that was paused meanwhile, or that cannot be played, tells so by its own events.
    await element.play().catch(() => {})
  }
  const seek = (at: number) => {
    if (!audio.current) return
    audio.current.currentTime = at
    setState((before) => ({ ...before, at }))
  }
  return { ...state, toggle, seek }
}
