import { useEffect, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { Icon } from '../kit/icon.tsx'
import { connectionTexts } from '../texts/connection.ts'
import styles from './connection.module.css'

const shownMilliseconds = 12_000

/** A notice after a reconnect: how many events were missed, and that all of them were loaded. */
export function CaughtUp({ status, caughtUp }: Pick<RoomState, 'status' | 'caughtUp'>) {
  const [hiddenAt, setHiddenAt] = useState(0)
  const awayAt = useAwayAt(status)
  const at = caughtUp?.at ?? 0
  useEffect(() => {
    if (!at) return
    const timer = setTimeout(() => setHiddenAt(at), shownMilliseconds)
    return () => clearTimeout(timer)
  }, [at])

  if (
    !caughtUp ||
    awayAt === null ||
    caughtUp.at < awayAt ||
    caughtUp.at === hiddenAt ||
    (caughtUp.events === 0 && caughtUp.gaps === 0)
  )
    return null
  return (
    <p className={styles.caughtUp} role="status">
      <Icon name="check" />
      {connectionTexts.caughtUp({ events: caughtUp.events, gaps: caughtUp.gaps })}
    </p>
  )
}

/** When the connection was last lost after the room had been live; null if it never was. */
function useAwayAt(status: RoomState['status']): number | null {
  const [seen, setSeen] = useState<{ wasLive: boolean; awayAt: number | null }>({ wasLive: false, awayAt: null })
  if (status === 'live' && !seen.wasLive) setSeen({ ...seen, wasLive: true })
  if (status === 'offline' && seen.wasLive) setSeen({ wasLive: false, awayAt: Date.now() })
  return seen.awayAt
}
