import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { isSameAccount } from '#shared/kit/accounts'
import { callOfPage } from '../calls/ring.ts'
import { useAccount, useClient } from '../connection/client.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { meetingTexts as t } from '../texts/meetings.ts'

const newest = 20

/** The call that led to the meeting of this page: how it stands, and what ends it. */
export function useCall() {
  const client = useClient()
  const account = useAccount()
  const [id] = useState(callOfPage)
  const [call, setCall] = useState<Call | null>(null)
  const [isLoading, setLoading] = useState(id !== null)
  useEffect(() => {
    if (id === null || account === null) return setLoading(false)
    const look = async () => {
      const { calls } = await client.calls.list({ limit: newest })
      setCall(calls.find((one) => one.id === id) ?? null)
    }
    const lookQuietly = () =>
      void look()
        .catch(() => {})
        .finally(() => setLoading(false))
    lookQuietly()
    // Nobody is told of a call that has rung too long.
    const timer = setTimeout(lookQuietly, (ringSeconds + 1) * 1_000)
    const unhear = client.on(table.events.callChanged, ({ call: changed }) => {
      if (changed.id === id) setCall(changed)
    })
    return () => {
      clearTimeout(timer)
      unhear()
    }
  }, [client, id, account])

  /** Whoever leaves first ends it; of the other the server hears nothing new. */
  const end = (wasAnswered: boolean) => {
    if (id === null || account === null) return Promise.resolve()
    return client.calls.change({ callId: id, status: wasAnswered ? 'completed' : 'missed' }).catch(() => {})
  }
  return { isLoading, shown: call && shownTo(account, call), end }
}

export type ShownCall = ReturnType<typeof shownTo>

/** A call as one of the two sees it. */
function shownTo(account: string | null, { status, caller, callee, call_type }: Call) {
  const isMine = isSameAccount(caller.address, account)
  const { display_name, username, address } = isMine ? callee : caller
  const name = isolated(nameOf(display_name ?? username, address))
  const words: Record<typeof status, string> = {
    ringing: isMine ? t.calls.ringingOut({ name }) : t.calls.ringingIn({ name }),
    active: isMine ? t.calls.activeOut({ name }) : t.calls.activeIn({ name }),
    declined: isMine ? t.calls.declinedOut({ name }) : t.calls.declinedIn,
    missed: isMine ? t.calls.missedOut({ name }) : t.calls.missedIn({ name }),
    completed: t.calls.completed,
    failed: t.calls.failed,
  }
  return {
    name,
    other: address,
    type: call_type,
    /** Whether the caller may want to ring again. */
    wasInVain: isMine && ['missed', 'declined'].includes(status),
    wasAnswered: ['active', 'completed'].includes(status),
    isRinging: status === 'ringing' && isMine,
    isOn: ['ringing', 'active'].includes(status),
    words: words[status],
  }
}
