import { useState } from 'react'
import type { Client } from '#client/sdk/types'
import { metresText } from '#shared/kit/earth'
import { useClient } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { useFocused } from '../kit/focus.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { Problem, Skeleton } from '../kit/notice.tsx'
import { whereIAm } from '../kit/position.ts'
import { retryTimeOf } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { positionWords } from './join-place.tsx'
import styles from './rooms.module.css'
import { goTo } from './route.ts'
import { useRoomList } from './use-rooms.ts'

type Invitation = Awaited<ReturnType<Client['invitations']['read']>>

/** A dialog that names the room of an invitation link, and asks whether to join it. */
export function InvitationDialog({ token, onAnswered }: { token: string; onAnswered: () => void }) {
  const client = useClient()
  const invitation = useLoaded<Invitation>(token, () => client.invitations.read({ token }))
  return (
    <Dialog title={t.invitation.title} hasAddress onClose={onAnswered}>
      {invitation.value ? (
        <Question token={token} invitation={invitation.value} onAnswered={onAnswered} />
      ) : invitation.isLoading ? (
        <Skeleton rows={3} />
      ) : (
        <div className="stack wide">
          <Problem
            error={invitation.error}
            onRetry={retryTimeOf(invitation.error) === null ? undefined : invitation.reload}
          />
          <div className="row end">
            <button type="button" className="button" onClick={onAnswered}>
              {t.invitation.dismiss}
            </button>
          </div>
        </div>
      )}
    </Dialog>
  )
}

function Question(props: { token: string; invitation: Invitation; onAnswered: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const answer = useFocused<HTMLButtonElement>()
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const { room, invited_by, is_member } = props.invitation
  const { gate } = room
  const open = () => {
    goTo({ type: room.type, id: room.id })
    props.onAnswered()
  }
  const join = async () => {
    setBusy(true)
    try {
      if (gate?.by === 'place') await client.places.claim(await whereIAm(4))
      await client.invitations.accept({ token: props.token, idempotency_key: crypto.randomUUID() })
      reload()
      open()
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }
  return (
    <div className="stack wide">
      <div className={`row ${styles.invited}`}>
        <span className={styles.sign} aria-hidden="true">
          {room.emoji}
        </span>
        <span className="grow">
          <strong>
            <bdi>{room.name}</bdi>
          </strong>
          <small className="hint">{t.members({ count: room.member_count })}</small>
        </span>
      </div>
      <p className="row">
        <Avatar id={invited_by.id} name={invited_by.name} />
        <span>
          {(is_member ? t.invitation.member : t.invitation.invites)({
            name: nameOf(invited_by.name, invited_by.id),
            who: (parts) => <bdi title={invited_by.id}>{parts}</bdi>,
          })}
        </span>
      </p>
      {gate?.by === 'place' && !is_member && (
        <p className="hint">
          {t.invitation.place({ distance: metresText(gate.radius_m), place: isolated(gate.place_name) })}{' '}
          {positionWords}
        </p>
      )}
      <Problem error={error} />
      <div className="row end">
        <button type="button" className="button plain" onClick={props.onAnswered}>
          {t.invitation.later}
        </button>
        {is_member ? (
          <button ref={answer} type="button" className="button main" onClick={open}>
            {t.invitation.open}
          </button>
        ) : (
          <button ref={answer} type="button" className="button main" disabled={isBusy} onClick={() => void join()}>
            {t.invitation.join}
          </button>
        )}
      </div>
    </div>
  )
}
