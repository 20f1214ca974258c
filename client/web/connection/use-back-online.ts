import { useEffect, useRef } from 'react'
import { useConnectionState } from './client.ts'

/** Calls `reload` after each reconnection, because events of the meantime are not sent again. */
export function useBackOnline(reload: () => void): void {
  const isOnline = useConnectionState() === 'online'
  const wasOnline = useRef(isOnline)
  useEffect(() => {
    if (isOnline && !wasOnline.current) reload()
    wasOnline.current = isOnline
  }, [isOnline, reload])
}
