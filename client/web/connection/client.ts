import { createContext, useContext, useSyncExternalStore } from 'react'
import type { Client, ConnectionState } from '#client/sdk/types'

export const ClientContext = createContext<Client | null>(null)

export function useClient(): Client {
  const client = useContext(ClientContext)
  if (!client) throw new Error('There is no client above this component.')
  return client
}

export function useConnectionState(): ConnectionState {
  const { connection } = useClient()
  return useSyncExternalStore(
    (listener) => connection.subscribe(listener),
    () => connection.state,
  )
}

export function useAccount(): string | null {
  const { session } = useClient()
  return useSyncExternalStore(
    (listener) => session.subscribe(listener),
    () => session.account,
  )
}
