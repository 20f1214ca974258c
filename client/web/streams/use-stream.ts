import { useEffect, useMemo, useState, useSyncExternalStore } from 'react'
import { type LiveNow, type StreamChatView, type StreamView, streamsOf } from '#client/sdk/streams'
import { useClient } from '../connection/client.ts'

interface Watched<State> {
  readonly state: State
  subscribe(listener: () => void): () => void
  close(): void
}

function useWatched<State>(open: () => Watched<State>): State | null {
  const [watched, setWatched] = useState<Watched<State> | null>(null)
  useEffect(() => {
    const opened = open()
    setWatched(opened)
    return () => opened.close()
  }, [open])
  return useSyncExternalStore(
    useMemo(() => (listener: () => void) => watched?.subscribe(listener) ?? (() => {}), [watched]),
    () => watched?.state ?? null,
  )
}

/** A stream as it stands; who shows it is counted as a viewer. */
export function useStream(id: string): StreamView | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).open(id), [client, id]))
}

/** The newest messages of a stream, for who is not in its chat. */
export function useStreamChat(id: string): StreamChatView | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).readChat(id), [client, id]))
}

export function useLiveNow(): LiveNow['state'] | null {
  const client = useClient()
  return useWatched(useMemo(() => () => streamsOf(client).liveNow(), [client]))
}
