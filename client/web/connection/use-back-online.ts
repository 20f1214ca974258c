import { useEffect, useRef } from 'react'
import { useConnectionState } from './client.ts'

/** Calls `reload` each time that there is a connection again: what changed meanwhile is told to nobody who was away. */
export function useBackOnline(reload: () => void): void {
  const isOnline = useConnectionState() === 'online'
  const wasOnline = useRef(isOnline)
  useEffect(() => {
    if (isOnline && !wasOnline.current) reload()
    wasOnline.current = isOnline
  }, [isOnline, reload])
}
