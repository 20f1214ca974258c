import { lazy, useEffect, useRef, useState } from 'react'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { useClient } from '../../connection/client.ts'
import { LazyBoundary } from '../../kit/lazy-boundary.tsx'
import { welcomeTexts as t } from '../../texts/welcome.ts'
import styles from './live-preview.module.css'

const LiveStage = lazy(async () => ({ default: (await import('../../streams/live-stage.tsx')).LiveStage }))
const againMilliseconds = 2_000

/** Who is live, asked for until somebody is; null until the first answer. What follows is told to the stage. */
export function useFirstLive(): readonly PublicStream[] | null {
  const client = useClient()
  const [streams, setStreams] = useState<readonly PublicStream[] | null>(null)
  const isFound = streams !== null && streams.length > 0
  useEffect(() => {
    if (isFound) return
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      const found = document.hidden ? null : await client.streams.directory({ limit: 1 }).catch(() => null)
      if (isOver) return
      setStreams((before) => found?.streams ?? before ?? [])
      timer = setTimeout(ask, againMilliseconds)
    }
    void ask()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [client, isFound])
  return streams
}

/** The stream that most people watch, with its chat, from when it is scrolled to: its parts are loaded then. */
export function LivePreview({ onLook }: { onLook: (stream?: string) => void }) {
  const place = useRef<HTMLElement>(null)
  const [isSeen, setSeen] = useState(false)
  useEffect(() => {
    if (!place.current) return
    const seeing = new IntersectionObserver((entries) => setSeen(entries.some(({ isIntersecting }) => isIntersecting)))
    seeing.observe(place.current)
    return () => seeing.disconnect()
  }, [])
  return (
    <section className={styles.livePreview} aria-label={t.live} ref={place}>
      <LazyBoundary>{isSeen && <LiveStage onLook={onLook} />}</LazyBoundary>
    </section>
  )
}
