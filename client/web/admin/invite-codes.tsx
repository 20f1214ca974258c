import { useState } from 'react'
import type { inviteCodes } from '#shared/api/people/invites'
import type { AnswerOf } from '#shared/kit/contract'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { fullTimeOf } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Blank, Listed } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { usePages } from '../kit/use-pages.ts'
import { adminTexts } from '../texts/admin.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { controlTexts } from '../texts/controls.ts'
import styles from './administration.module.css'

type Code = AnswerOf<typeof inviteCodes.list>['codes'][number]

const t = adminTexts.invitations

/** The codes by which admins invite many people, and a form for another one. */
export function InviteCodes() {
  const client = useClient()
  const tell = useTell()
  const codes = usePages('invite-codes', async (cursor) => {
    const page = Number(cursor ?? 1)
    const { codes: items, totalPages } = await client.inviteCodes.list({ page })
    return { items, next_cursor: page < totalPages ? String(page + 1) : null }
  })
  const turn = async (code: string, isActive: boolean) => {
    await client.inviteCodes.update({ code, isActive })
    codes.change((shown) => shown.map((one) => (one.code === code ? { ...one, is_active: isActive } : one)))
  }
  const remove = async (code: string) => {
    await client.inviteCodes.remove({ code })
    codes.change((shown) => shown.filter((one) => one.code !== code))
  }
  const copy = async (code: string) => {
    await navigator.clipboard.writeText(code)
    tell(t.copied)
  }
  return (
    <>
      <NewCode onMade={codes.reload} />
      <Listed loaded={codes} empty={<Blank icon="ticket" title={t.empty} />}>
        {(all) => (
          <ul className="quiet-list" aria-label={adminTexts.tabs.invitations}>
            {all.map((code) => (
              <li key={code.id} className="row wrap">
                <span className="grow">
                  <code>{code.code}</code>
                  <small>{stateOfCode(code)}</small>
                  {code.note && <small dir="auto">{code.note}</small>}
                </span>
                <ActButton
                  className="button small"
                  aria-label={t.copyOf({ code: code.code })}
                  onPress={() => copy(code.code)}
                >
                  {controlTexts.copy}
                </ActButton>
                <ActButton
                  className="button small"
                  aria-label={(code.is_active ? t.turnOffOf : t.turnOnOf)({ code: code.code })}
                  onPress={() => turn(code.code, !code.is_active)}
                >
                  {code.is_active ? t.turnOff : t.turnOn}
                </ActButton>
                <ConfirmButton
                  title={t.remove}
                  question={confirmationTexts.inviteCode}
                  of={code.code}
                  onConfirm={() => remove(code.code)}
                />
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {codes.more && (
        <ActButton className="button small" onPress={codes.more}>
          {controlTexts.showMore}
        </ActButton>
      )}
    </>
  )
}

function stateOfCode({ is_active, current_uses: used, max_uses: most, expires_at }: Code): string {
  const uses = most === 0 ? t.usedOfAny({ used }) : t.used({ used, most })
  const isOver = expires_at !== null && Date.parse(expires_at) <= Date.now()
  const end = expires_at === null ? t.noEnd : (isOver ? t.ended : t.ends)({ time: fullTimeOf(expires_at) })
  return `${is_active ? '' : `${t.off} · `}${uses} · ${end}`
}

function NewCode({ onMade }: { onMade: () => void }) {
  const client = useClient()
  const tell = useTell()
  const [code, setCode] = useState('')
  const [most, setMost] = useState('1')
  const [end, setEnd] = useState('')
  const [note, setNote] = useState('')
  const [key, setKey] = useState(() => crypto.randomUUID())
  const make = async () => {
    const made = await client.inviteCodes.create({
      maxUses: Number(most),
      idempotency_key: key,
      ...(code.trim() && { customCode: code.trim() }),
      ...(end && { expiresAt: new Date(end).toISOString() }),
      ...(note.trim() && { note: note.trim() }),
    })
    setKey(crypto.randomUUID())
    setCode('')
    setNote('')
    tell(t.made({ code: made.code.code }))
    onMade()
  }
  // A changed form is another request.
  const field = (set: (value: string) => void) => (event: { target: { value: string } }) => {
    set(event.target.value)
    setKey(crypto.randomUUID())
  }
  return (
    <MakeForm label={t.new} action={t.make} onMake={make}>
      <p className="hint">{t.hint}</p>
      <div className={styles.fields}>
        <label className="field">
          <span>{t.code}</span>
          <input
            dir="ltr"
            className="input"
            autoComplete="off"
            pattern="[A-Za-z0-9_\-]{4,32}"
            placeholder={t.random}
            value={code}
            onChange={field(setCode)}
          />
        </label>
        <label className="field">
          <span>{t.most}</span>
          <input type="number" className="input" required min={0} max={10_000} value={most} onChange={field(setMost)} />
          <small>{t.mostHint}</small>
        </label>
        <label className="field">
          <span>{t.end}</span>
          <input type="datetime-local" className="input" value={end} onChange={field(setEnd)} />
        </label>
        <label className="field">
          <span>{t.note}</span>
          <input dir="auto" className="input" maxLength={500} value={note} onChange={field(setNote)} />
        </label>
      </div>
    </MakeForm>
  )
}
