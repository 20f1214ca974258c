import { useState } from 'react'
import type { moderation } from '#shared/api/moderation/moderation'
import { isSameAccount } from '#shared/kit/accounts'
import type { AnswerOf } from '#shared/kit/contract'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Blank, Listed, Problem } from '../kit/notice.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { findPeople } from '../rooms/people-form.tsx'
import { adminTexts } from '../texts/admin.ts'
import { confirmationTexts } from '../texts/confirmations.ts'

type Moderator = Extract<AnswerOf<typeof moderation.inspect>, { moderators: unknown }>['moderators'][number]

const t = adminTexts.moderators
const rights = ['can_pin', 'can_delete', 'can_mute', 'can_manage_mods'] as const
type Right = (typeof rights)[number]
const longestNotes = 1_000

/** The people who moderate every room, each with single rights and notes. */
export function GlobalModerators() {
  const client = useClient()
  const [written, setWritten] = useState('')
  const [open, setOpen] = useState<string | null>(null)
  const loaded = useLoaded<readonly Moderator[]>('moderators', async () => {
    const answer = await client.moderation.inspect({ action: 'moderators' })
    return 'moderators' in answer ? answer.moderators : []
  })
  const { isBusy, problem, submit } = useSubmit(async () => {
    const [found = null] = await findPeople(client, written)
    setOpen(found)
    setWritten('')
  })
  const addresses = loaded.value?.map(({ user_address }) => user_address) ?? []
  const nameFor = useNames(open === null ? addresses : [...addresses, open])
  const close = () => setOpen(null)
  return (
    <>
      <p className="hint">{t.hint}</p>
      <form className="row" aria-label={t.form} onSubmit={submit}>
        <input
          dir="auto"
          className="input grow"
          aria-label={t.person}
          placeholder={t.personHint}
          maxLength={160}
          required
          value={written}
          onChange={({ target }) => setWritten(target.value)}
        />
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {t.add}
        </button>
      </form>
      <Problem error={problem} />
      <Listed loaded={loaded} empty={<Blank icon="shield" title={t.none} />}>
        {(all) => (
          <ul className="quiet-list" aria-label={adminTexts.tabs.moderators}>
            {all.map((moderator) => (
              <li key={moderator.id} className="row wrap">
                <span className="grow">
                  <strong title={moderator.user_address}>{nameFor(moderator.user_address)}</strong>
                  <small>
                    {rights
                      .filter((right) => moderator[right])
                      .map((right) => t.rights[right])
                      .join(' · ') || t.noRights}
                  </small>
                  {moderator.notes && <small dir="auto">{moderator.notes}</small>}
                </span>
                <button
                  type="button"
                  className="button small"
                  aria-haspopup="dialog"
                  aria-label={t.changeOf({ name: nameFor(moderator.user_address) })}
                  onClick={() => setOpen(moderator.user_address)}
                >
                  {t.change}
                </button>
              </li>
            ))}
          </ul>
        )}
      </Listed>
      {open !== null && (
        <ModeratorDialog
          address={open}
          name={nameFor(open)}
          moderator={loaded.value?.find(({ user_address }) => isSameAccount(user_address, open)) ?? null}
          onChanged={() => {
            close()
            loaded.reload()
          }}
          onClose={close}
        />
      )}
    </>
  )
}

interface ModeratorDialogProps {
  address: string
  name: string
  /** Null of a person who does not moderate everywhere yet. */
  moderator: Moderator | null
  onChanged: () => void
  onClose: () => void
}

function ModeratorDialog({ address, name, moderator, onChanged, onClose }: ModeratorDialogProps) {
  const client = useClient()
  const tell = useTell()
  const [given, setGiven] = useState<Readonly<Record<Right, boolean>>>({
    can_pin: moderator?.can_pin ?? true,
    can_delete: moderator?.can_delete ?? true,
    can_mute: moderator?.can_mute ?? true,
    can_manage_mods: moderator?.can_manage_mods ?? false,
  })
  const [notes, setNotes] = useState(moderator?.notes ?? '')
  const act = { room: null, target: address }
  const { isBusy, problem, submit } = useSubmit(async () => {
    const patch = { ...given, notes: notes.trim() || null }
    await client.moderation.act({ ...act, action: 'promote', patch })
    tell(t.saved({ name }))
    onChanged()
  })
  const remove = async () => {
    await client.moderation.act({ ...act, action: 'demote' })
    tell(t.removed({ name }))
    onChanged()
  }
  return (
    <Dialog title={t.title({ name })} onClose={onClose}>
      <form className="stack wide" onSubmit={submit}>
        <fieldset className="stack">
          <legend className="label">{t.mayDo}</legend>
          {rights.map((right) => (
            <label className="check" key={right}>
              <input
                type="checkbox"
                checked={given[right]}
                onChange={({ target }) => setGiven({ ...given, [right]: target.checked })}
              />
              <span>{t.rights[right]}</span>
            </label>
          ))}
        </fieldset>
        <label className="field">
          <span>{t.notes}</span>
          <textarea
            dir="auto"
            className="input"
            rows={2}
            maxLength={longestNotes}
            value={notes}
            onChange={({ target }) => setNotes(target.value)}
          />
          <small>{t.notesHint}</small>
        </label>
        <Problem error={problem} />
        <div className="row end">
          {moderator && <ConfirmButton title={t.remove} question={confirmationTexts.moderator} onConfirm={remove} />}
          <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
            {t.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
