import { useEffect } from 'react'
import type { Client } from '#client/sdk/types'

/** Tells the server whether this page is visible. */
export function useActivity(client: Client): void {
  useEffect(() => {
    const tell = () => {
      if (client.connection.state !== 'online') return
      client.messages.presence({ state: document.hidden ? 'idle' : 'active' }).catch(() => {})
    }
    document.addEventListener('visibilitychange', tell)
    return () => document.removeEventListener('visibilitychange', tell)
  }, [client])
}
