import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { type CallStatus, ringSeconds } from '#shared/api/calls'
import { callOfPage } from '../calls/ring.ts'
import { useAccount, useClient } from '../connection/client.ts'

const newest = 20

/** The call that led to the meeting of this page: how it stands, and what ends it. */
export function useCall() {
  const client = useClient()
  const account = useAccount()
  const [id] = useState(callOfPage)
  const [status, setStatus] = useState<CallStatus | null>(null)
  useEffect(() => {
    if (id === null || account === null) return
    const look = async () => {
      const { calls } = await client.calls.list({ limit: newest })
      setStatus(calls.find((call) => call.id === id)?.status ?? null)
    }
    const lookQuietly = () => void look().catch(() => {})
    lookQuietly()
    // Nobody is told of a call that has rung too long.
    const timer = setTimeout(lookQuietly, (ringSeconds + 1) * 1_000)
    const unhear = client.on(table.events.callChanged, ({ call }) => {
      if (call.id === id) setStatus(call.status)
    })
    return () => {
      clearTimeout(timer)
      unhear()
    }
  }, [client, id, account])

  /** Whoever leaves first ends it; of the other the server hears nothing new. */
  const end = (wasAnswered: boolean) => {
    if (id === null || account === null) return
    client.calls.change({ callId: id, status: wasAnswered ? 'completed' : 'missed' }).catch(() => {})
  }
  return { status, end }
}
