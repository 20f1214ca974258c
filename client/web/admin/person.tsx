import { useId, useState } from 'react'
import type { accounts } from '#shared/api/people/accounts'
import type { MessagesOfErased } from '#shared/api/platform/own-data'
import { isSameAccount } from '#shared/kit/accounts'
import type { AnswerOf } from '#shared/kit/contract'
import { useSession } from '../accounts/session.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, isolated, nameOf } from '../kit/format.ts'
import { MakeForm } from '../kit/make-form.tsx'
import { Listed, Problem } from '../kit/notice.tsx'
import { useAttempt, useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { adminTexts } from '../texts/admin.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { locale } from '../texts/language.ts'
import styles from './administration.module.css'

export type Person = AnswerOf<typeof accounts.users>['users'][number]

export const personName = (person: Person): string => nameOf(person, person.wallet_address)

const t = adminTexts.person
const longestReason = 500
const longestNotes = 2_000

interface OfPerson {
  person: Person
  onChange: (changes: Partial<Person>) => void
}

/** What an account is, and what admins may do with it. */
export function PersonDialog({ person, onChange, onClose }: OfPerson & { onClose: () => void }) {
  const { account, user } = useSession()
  const [isErasing, setErasing] = useState(false)
  const name = personName(person)
  const isSelf = isSameAccount(person.wallet_address, account)
  if (isErasing) return <EraseDialog person={person} onErased={onClose} onClose={() => setErasing(false)} />
  return (
    <Dialog title={name} onClose={onClose}>
      <div className="stack wide">
        <Facts person={person} />
        <Notes person={person} onChange={onChange} />
        {!isSelf && <Suspension person={person} onChange={onChange} />}
        <Rights person={person} onChange={onChange} isSuperAdmin={user.role === 'super_admin' && !isSelf} />
        <Wallets address={person.wallet_address} />
        {!isSelf && <Data person={person} onErase={() => setErasing(true)} />}
      </div>
    </Dialog>
  )
}

function Facts({ person }: { person: Person }) {
  const facts: readonly (readonly [string, string])[] = [
    [t.facts.address, person.wallet_address],
    [t.facts.username, person.username ? `@${person.username}` : '–'],
    [t.facts.joined, fullTimeOf(person.created_at)],
    [t.facts.seen, person.last_active_at ? fullTimeOf(person.last_active_at) : '–'],
    [t.facts.email, person.email_verified ? t.facts.yes : t.facts.no],
    [t.facts.friends, String(person.friends_count)],
    [t.facts.rooms, String(person.groups_count + person.channels_joined)],
    [t.facts.invited, `${person.invites_used} / ${person.invite_count}`],
  ]
  return (
    <dl className={styles.facts}>
      {facts.map(([title, value]) => (
        <div key={title}>
          <dt>{title}</dt>
          <dd dir="auto">{value}</dd>
        </div>
      ))}
    </dl>
  )
}

function Notes({ person, onChange }: OfPerson) {
  const client = useClient()
  const tell = useTell()
  const [notes, setNotes] = useState(person.notes ?? '')
  const { isBusy, problem, submit } = useSubmit(async () => {
    await client.accounts.updateUser({ userAddress: person.wallet_address, updates: { notes: notes.trim() || null } })
    onChange({ notes: notes.trim() || null })
    tell(t.notes.saved)
  })
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{t.notes.title}</span>
        <textarea
          dir="auto"
          className="input"
          rows={2}
          maxLength={longestNotes}
          value={notes}
          onChange={({ target }) => setNotes(target.value)}
        />
        <small>{t.notes.hint}</small>
      </label>
      {notes.trim() !== (person.notes ?? '') && (
        <div className="row end">
          <button type="submit" className="button main small" disabled={isBusy}>
            {t.notes.save}
          </button>
        </div>
      )}
      <Problem error={problem} />
    </form>
  )
}

function Suspension({ person, onChange }: OfPerson) {
  const client = useClient()
  const tell = useTell()
  const title = useId()
  const [reason, setReason] = useState('')
  const suspend = async (ban: boolean) => {
    const why = reason.trim() || null
    await client.accounts.suspend({ userAddress: person.wallet_address, ban, ...(ban && { reason: why }) })
    onChange({ is_banned: ban, ban_reason: ban ? why : null })
    setReason('')
    tell((ban ? t.suspension.done : t.suspension.lifted)({ name: personName(person) }))
  }
  return (
    <section className="stack" aria-labelledby={title}>
      <h3 className="label" id={title}>
        {t.suspension.title}
      </h3>
      {person.is_banned ? (
        <div className="row">
          <span className="grow">
            {person.ban_reason ? t.suspension.because({ reason: person.ban_reason }) : t.suspension.active}
          </span>
          <ActButton className="button small" onPress={() => suspend(false)}>
            {t.suspension.lift}
          </ActButton>
        </div>
      ) : (
        <>
          <p className="hint">{t.suspension.hint}</p>
          <div className="row wrap">
            <input
              dir="auto"
              className="input grow"
              aria-label={t.suspension.reason}
              placeholder={t.suspension.reason}
              maxLength={longestReason}
              value={reason}
              onChange={({ target }) => setReason(target.value)}
            />
            <ConfirmButton
              title={t.suspension.suspend}
              question={confirmationTexts.suspend}
              onConfirm={() => suspend(true)}
            />
          </div>
        </>
      )}
    </section>
  )
}

const mostInvitations = 1_000

function Rights({ person, onChange, isSuperAdmin }: OfPerson & { isSuperAdmin: boolean }) {
  const client = useClient()
  const tell = useTell()
  const attempt = useAttempt()
  const title = useId()
  const [count, setCount] = useState(5)
  const [key, setKey] = useState(() => crypto.randomUUID())
  const address = person.wallet_address
  const allowAgents = async (beta_access: boolean) => {
    await client.accounts.updateUser({ userAddress: address, updates: { beta_access } })
    onChange({ beta_access })
  }
  const giveInvitations = async () => {
    const given = { walletAddress: address, additionalInvites: count, idempotency_key: key }
    const { newTotal } = await client.inviteCodes.grant(given)
    setKey(crypto.randomUUID())
    onChange({ invite_count: newTotal })
    tell(t.rights.given({ count: newTotal }))
  }
  const changeRole = async () => {
    if (person.role !== 'user') {
      await client.accounts.revokeAdmin({ address })
      onChange({ role: 'user' })
    } else {
      const { role } = await client.accounts.grantAdmin({ walletAddress: address })
      onChange({ role })
    }
  }
  return (
    <section className="stack" aria-labelledby={title}>
      <h3 className="label" id={title}>
        {t.rights.title}
      </h3>
      <label className="check">
        <input
          type="checkbox"
          checked={person.beta_access}
          onChange={({ target }) => attempt(() => allowAgents(target.checked))}
        />
        <span>{t.rights.agents}</span>
      </label>
      <div className={`row wrap ${styles.ending}`}>
        <label className="field">
          <span>{t.rights.invitations}</span>
          <input
            type="number"
            className="input small"
            min={1}
            max={mostInvitations}
            value={count}
            onChange={({ target }) => {
              setCount(Math.min(mostInvitations, Math.max(1, Math.trunc(target.valueAsNumber) || 1)))
              setKey(crypto.randomUUID())
            }}
          />
        </label>
        <ActButton className="button small" onPress={giveInvitations}>
          {t.rights.give}
        </ActButton>
      </div>
      {isSuperAdmin && person.role !== 'super_admin' && (
        <div className="row">
          <ConfirmButton
            title={person.role === 'user' ? t.rights.makeAdmin : t.rights.removeAdmin}
            question={person.role === 'user' ? confirmationTexts.makeAdmin : confirmationTexts.removeAdmin}
            onConfirm={changeRole}
          />
        </div>
      )}
    </section>
  )
}

/** The smart account of a person, loaded when it is asked for, as every chain is asked then. */
function Wallets({ address }: { address: string }) {
  const title = useId()
  const [isShown, setShown] = useState(false)
  return (
    <section className="stack" aria-labelledby={title}>
      <h3 className="label" id={title}>
        {t.wallets.title}
      </h3>
      {isShown ? (
        <Balances address={address} />
      ) : (
        <div className="row">
          <button type="button" className="button small" onClick={() => setShown(true)}>
            {t.wallets.show}
          </button>
        </div>
      )}
    </section>
  )
}

function Balances({ address }: { address: string }) {
  const client = useClient()
  const wallet = useLoaded(address, () => client.wallet.ofUser({ address }))
  const usd = new Intl.NumberFormat(locale, { style: 'currency', currency: 'USD' })
  return (
    <>
      {wallet.value && (
        <p className="hint">
          {wallet.value.smartWalletAddress === null
            ? t.wallets.none
            : t.wallets.total({
                address: isolated(wallet.value.smartWalletAddress),
                usd: usd.format(wallet.value.totalBalanceUsd),
              })}
        </p>
      )}
      <Listed loaded={{ ...wallet, value: wallet.value?.chains ?? null }} empty={null}>
        {(chains) => (
          <dl className={styles.facts}>
            {chains.map(({ chainId, chainName, balance, symbol }) => (
              <div key={chainId}>
                <dt>{chainName}</dt>
                <dd>{balance === null ? t.wallets.unknown : `${balance} ${symbol}`}</dd>
              </div>
            ))}
          </dl>
        )}
      </Listed>
    </>
  )
}

function Data({ person, onErase }: { person: Person; onErase: () => void }) {
  const client = useClient()
  const tell = useTell()
  const title = useId()
  const [withFiles, setWithFiles] = useState(false)
  const archive = async () => {
    await client.ownData.exportUser({ address: person.wallet_address, include_media: withFiles })
    tell(t.data.begun)
  }
  return (
    <section className="stack" aria-labelledby={title}>
      <h3 className="label" id={title}>
        {t.data.title}
      </h3>
      <p className="hint">{t.data.hint}</p>
      <label className="check">
        <input type="checkbox" checked={withFiles} onChange={({ target }) => setWithFiles(target.checked)} />
        <span>{t.data.files}</span>
      </label>
      <div className="row wrap">
        <ActButton className="button small" onPress={archive}>
          {t.data.archive}
        </ActButton>
        <button type="button" className="button small risky" onClick={onErase}>
          {t.data.erase}
        </button>
      </div>
    </section>
  )
}

function EraseDialog(props: { person: Person; onErased: () => void; onClose: () => void }) {
  const { person, onErased, onClose } = props
  const client = useClient()
  const tell = useTell()
  const [messages, setMessages] = useState<MessagesOfErased>('unlink')
  const [reason, setReason] = useState('')
  const [confirm, setConfirm] = useState('')
  const name = person.username ?? person.wallet_address
  const erase = async () => {
    await client.ownData.eraseUser({ address: person.wallet_address, reason: reason.trim(), messages })
    tell(t.erase.done({ name: personName(person) }))
    onErased()
  }
  return (
    <Dialog title={t.erase.title({ name: personName(person) })} onClose={onClose}>
      <MakeForm label={t.data.erase} action={t.erase.action} isGrave onMake={erase}>
        <p>{t.erase.hint}</p>
        <fieldset className="stack">
          <legend className="label">{t.erase.messages}</legend>
          {(['unlink', 'erase'] as const).map((one) => (
            <label className="check" key={one}>
              <input type="radio" name="messages" checked={messages === one} onChange={() => setMessages(one)} />
              <span>{t.erase[one]}</span>
            </label>
          ))}
        </fieldset>
        <label className="field">
          <span>{t.erase.reason}</span>
          <input
            dir="auto"
            className="input"
            required
            maxLength={longestReason}
            value={reason}
            onChange={({ target }) => setReason(target.value)}
          />
          <small>{t.erase.reasonHint}</small>
        </label>
        <label className="field">
          <span>{t.erase.confirm({ name })}</span>
          <input
            dir="auto"
            className="input"
            autoComplete="off"
            required
            pattern={name.replace(/[^\w]/g, '\\$&')}
            value={confirm}
            onChange={({ target }) => setConfirm(target.value)}
          />
        </label>
      </MakeForm>
    </Dialog>
  )
}
