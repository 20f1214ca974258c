import { useEffect } from 'react'
import { table } from '#client/sdk/table'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { useClient } from '../connection/client.ts'
import { useLoaded } from '../kit/use-loaded.ts'

interface Calls {
  calls: readonly Call[]
  /** Where older ones go on; null where there are none. */
  next: string | null
}

/** The calls of the account, newest first, as they change. */
export function useCalls() {
  const client = useClient()
  const { value, change, reload, ...state } = useLoaded<Calls>('calls', () => client.calls.list())
  useEffect(
    () =>
      client.on(table.events.callChanged, ({ call }) =>
        change(({ calls, next }) => ({ calls: withCall(calls, call), next })),
      ),
    [client, change],
  )
  // Nobody is told of a call that has rung too long.
  const rings = value?.calls.find(({ status }) => status === 'ringing')?.started_at
  useEffect(() => {
    if (rings === undefined) return
    const timer = setTimeout(reload, Date.parse(rings) + (ringSeconds + 1) * 1_000 - Date.now())
    return () => clearTimeout(timer)
  }, [rings, reload])

  const more = async () => {
    const before = value?.next
    if (!before) return
    const older = await client.calls.list({ before })
    change(({ calls }) => ({ calls: [...calls, ...older.calls], next: older.next }))
  }
  return { ...state, reload, value: value?.calls ?? null, more: value?.next ? more : null }
}

const withCall = (calls: readonly Call[], call: Call): readonly Call[] =>
  calls.some(({ id }) => id === call.id)
    ? calls.map((known) => (known.id === call.id ? call : known))
    : [call, ...calls]
