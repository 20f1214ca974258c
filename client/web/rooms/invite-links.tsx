import { useEffect, useRef, useState } from 'react'
import { linkTo } from '#shared/kit/pages'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Listed } from '../kit/notice.tsx'
import { ShownOnce } from '../kit/shown-once.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useModeration } from '../moderation/use-moderation.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { roomTexts as t } from '../texts/rooms.ts'
import { useOpenRoom } from './room-context.ts'
import { useRoom } from './use-rooms.ts'

const daySeconds = 86_400
const terms = [
  [1, t.validity.day],
  [7, t.validity.week],
  [30, t.validity.month],
] as const
const uses = [1, 10, 100] as const

/** The invitation links of a room: creates one, which is shown once, and lists those that are still valid. */
export function InviteLinks({ room }: { room: RoomRef }) {
  // Whoever comes by a link is one more member, and a link that is made or taken back an entry of the log.
  const { membersCount } = useRoom(useOpenRoom().live)
  const version = `${membersCount} ${useModeration().log.value?.[0]?.id}`
  return (
    <section className="stack" aria-label={t.links.title}>
      <h3 className="label">{t.links.title}</h3>
      <Links room={room} version={version} />
    </section>
  )
}

function Links({ room, version }: { room: RoomRef; version: string }) {
  const client = useClient()
  const tell = useTell()
  const links = useLoaded(roomKey(room), async () => (await client.invitations.list({ room })).invitations)
  const { reload } = links
  const shownVersion = useRef(version)
  useEffect(() => {
    if (shownVersion.current !== version) reload()
    shownVersion.current = version
  }, [version, reload])
  const nameFor = useNames(links.value?.map(({ invited_by }) => invited_by) ?? [])
  const [made, setMade] = useState<{ id: string; url: string } | null>(null)
  const revoke = async (id: string) => {
    await client.invitations.revoke({ room, id })
    if (made?.id === id) setMade(null)
    tell(t.links.revoked)
    links.reload()
  }
  return (
    <>
      <NewLink
        room={room}
        onMade={(link) => {
          setMade(link)
          links.reload()
        }}
      />
      {made && <ShownOnce what="link" label={t.links.made} value={made.url} hint={t.links.madeHint} />}
      <Listed loaded={links} empty={<p className="hint">{t.links.none}</p>}>
        {(open) => (
          <ul className="quiet-list" aria-label={t.links.list}>
            {open.map((link) => (
              <li key={link.id} className="row">
                <span className="grow">
                  <strong>{t.links.used({ uses: link.uses, most: link.max_uses })}</strong>
                  <small className="hint">
                    {t.links.by({
                      name: nameFor(link.invited_by),
                      until: fullTimeOf(link.expires_at),
                      who: (parts) => <span title={link.invited_by}>{parts}</span>,
                      time: (parts) => <time dateTime={link.expires_at}>{parts}</time>,
                    })}
                  </small>
                </span>
                <ConfirmButton
                  title={t.links.revoke}
                  question={confirmationTexts.inviteLink}
                  onConfirm={() => revoke(link.id)}
                />
              </li>
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}

function NewLink({ room, onMade }: { room: RoomRef; onMade: (link: { id: string; url: string }) => void }) {
  const client = useClient()
  const [days, setDays] = useState<number>(7)
  const [most, setMost] = useState<number>(10)
  const make = async () => {
    const asked = { room, max_uses: most, expires_in_seconds: days * daySeconds }
    const { invitation, token } = await client.invitations.create({ ...asked, idempotency_key: crypto.randomUUID() })
    onMade({ id: invitation.id, url: location.origin + linkTo('invitation', { token }) })
  }
  return (
    <MakeForm label={t.links.form} action={t.links.make} onMake={make}>
      <div className="row wrap">
        <select
          className="input grow"
          aria-label={t.links.validity}
          value={days}
          onChange={({ target }) => setDays(Number(target.value))}
        >
          {terms.map(([value, title]) => (
            <option key={value} value={value}>
              {title}
            </option>
          ))}
        </select>
        <select
          className="input grow"
          aria-label={t.links.limit}
          value={most}
          onChange={({ target }) => setMost(Number(target.value))}
        >
          {uses.map((value) => (
            <option key={value} value={value}>
              {t.links.people({ count: value })}
            </option>
          ))}
        </select>
      </div>
    </MakeForm>
  )
}
