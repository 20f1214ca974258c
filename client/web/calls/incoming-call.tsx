import { useEffect, useState } from 'react'
import { table } from '#client/sdk/table'
import { type Call, ringSeconds } from '#shared/api/meetings/calls'
import { isJoinCode } from '#shared/api/meetings/meetings'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Avatar } from '../kit/avatar.tsx'
import { nameOf } from '../kit/format.ts'
import { useStoredPicture } from '../media/stored.ts'
import { callTexts as t } from '../texts/calls.ts'
import styles from './incoming-call.module.css'
import { answer } from './ring.ts'

/** Who rings, until it is answered here or on another device, or rings no more. Nothing is shown while nobody does. */
export function IncomingCall() {
  const client = useClient()
  const [call, setCall] = useState<Call | null>(null)
  useEffect(() => client.on(table.events.incomingCall, (told) => setCall(told.call)), [client])
  useEffect(
    () =>
      client.on(table.events.callChanged, ({ call: changed }) =>
        setCall((rings) => (rings?.id === changed.id && changed.status !== 'ringing' ? null : rings)),
      ),
    [client],
  )
  useEffect(() => {
    if (!call) return
    const timer = setTimeout(() => setCall(null), ringSeconds * 1_000)
    return () => clearTimeout(timer)
  }, [call])
  const picture = useStoredPicture(call?.caller.avatar_url)
  const { id, channel_name, caller } = call ?? {}
  if (!id || !caller || !isJoinCode(channel_name ?? '')) return null

  const name = nameOf(caller, caller.address)
  const said = call?.call_type === 'audio' ? t.callingByVoice({ name }) : t.calling({ name })
  const decline = async () => {
    setCall(null)
    await client.calls.change({ callId: id, status: 'declined' })
  }
  return (
    <section className={styles.ringing} role="alert" aria-label={said}>
      <Avatar id={caller.address} name={name} picture={picture} />
      <strong className="grow">{said}</strong>
      <div className="row">
        <ActButton className="button small" onPress={decline}>
          {t.decline}
        </ActButton>
        <ActButton className="button small main" onPress={() => answer(client, id, channel_name ?? '')}>
          {t.answer}
        </ActButton>
      </div>
    </section>
  )
}
