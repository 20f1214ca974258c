import { useState } from 'react'
import type { Delivery, Webhook } from '#shared/api/platform/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { fullTimeOf, listOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { Listed } from '../kit/notice.tsx'
import { ShownOnce } from '../kit/shown-once.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { webhookTexts as t } from '../texts/room-settings.ts'
import { useOpenRoom } from './room-context.ts'

/** The caller's webhooks of the open room: where its events are sent, and what came of that. */
export function Webhooks() {
  const client = useClient()
  const { live } = useOpenRoom()
  const [secret, setSecret] = useState<string | null>(null)
  const here = ({ rooms }: Webhook) => rooms.some((room) => roomKey(room) === roomKey(live.ref))
  const hooks = useLoaded(roomKey(live.ref), async () => (await client.webhooks.list({})).webhooks.filter(here))
  return (
    <>
      <p className="hint">{t.hint}</p>
      <NewHook
        room={live.ref}
        onMade={(made) => {
          setSecret(made)
          hooks.reload()
        }}
      />
      {secret !== null && <ShownOnce what="secret" label={t.secret} value={secret} hint={t.secretHint} />}
      <Listed loaded={hooks} empty={<p className="hint">{t.empty}</p>}>
        {(all) => (
          <ul className="quiet-list" aria-label={t.list}>
            {all.map((hook) => (
              <Hook key={hook.id} hook={hook} onChange={hooks.reload} onSecret={setSecret} />
            ))}
          </ul>
        )}
      </Listed>
    </>
  )
}

const choices = [
  [t.everything, null],
  [t.messages, ['message.created']],
  [t.changes, ['message.created', 'message.edited', 'message.deleted', 'messages.purged']],
  [t.members, ['member.joined', 'member.left', 'member.removed']],
] as const

function NewHook({ room, onMade }: { room: RoomRef; onMade: (secret: string) => void }) {
  const client = useClient()
  const [url, setUrl] = useState('')
  const [choice, setChoice] = useState(0)
  const make = async () => {
    const kinds = choices[choice]?.[1]
    const asked = { url: url.trim(), rooms: [room], kinds: kinds ? [...kinds] : null }
    onMade((await client.webhooks.create({ ...asked, idempotency_key: crypto.randomUUID() })).secret)
    setUrl('')
  }
  return (
    <MakeForm label={t.new} action={t.add} onMake={make}>
      <label className="field">
        <span>{t.url}</span>
        <input
          className="input"
          type="url"
          dir="ltr"
          required
          placeholder={t.urlExample}
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </label>
      <label className="field">
        <span>{t.events}</span>
        <select className="input" value={choice} onChange={({ target }) => setChoice(Number(target.value))}>
          {choices.map(([title], at) => (
            <option key={title} value={at}>
              {title}
            </option>
          ))}
        </select>
      </label>
    </MakeForm>
  )
}

const stateOf = ({ stopped, failing_since }: Webhook): [className: string, title: string] => {
  if (stopped) return [stopped.reason === 'PAUSED' ? 'chip' : 'chip grave', t.reasons[stopped.reason]]
  return failing_since === null ? ['chip', t.on] : ['chip warm', t.failing({ time: fullTimeOf(failing_since) })]
}

function Hook(props: { hook: Webhook; onChange: () => void; onSecret: (secret: string) => void }) {
  const { hook, onChange, onSecret } = props
  const client = useClient()
  const [isOpen, setOpen] = useState(false)
  /** What came of what was pressed. */
  const [said, setSaid] = useState('')
  const { id, url, kinds, enabled } = hook
  const [className, title] = stateOf(hook)
  const set = async (on: boolean) => {
    await client.webhooks.update({ id, enabled: on })
    onChange()
  }
  const test = async () => {
    const { attempt } = await client.webhooks.test({ id })
    setSaid(attempt.error ?? t.delivered({ status: `${attempt.status}`, time: attempt.milliseconds }))
  }
  const rotate = async () => {
    onSecret((await client.webhooks.rotate({ id, idempotency_key: crypto.randomUUID() })).secret)
    setSaid(t.rotated)
  }
  const remove = async () => {
    await client.webhooks.remove({ id })
    onChange()
  }
  return (
    <li className="stack">
      <span>
        <strong dir="ltr">{url}</strong>
        <small className="hint">{kinds === null ? t.everything : listOf(kinds)}</small>
      </span>
      <span>
        <span className={className}>{title}</span>
      </span>
      <div className="row wrap">
        <ActButton className="button small" onPress={() => set(!enabled)}>
          {enabled ? t.pause : t.resume}
        </ActButton>
        <ActButton className="button small" onPress={test}>
          {t.test}
        </ActButton>
        <button type="button" className="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t.deliveries.title}
        </button>
        <ConfirmButton title={t.newSecret} question={confirmationTexts.webhookSecret} onConfirm={rotate} />
        <ConfirmButton title={t.remove} question={confirmationTexts.webhook} onConfirm={remove} />
      </div>
      <p className="hint" role="status">
        {said}
      </p>
      {isOpen && <Deliveries id={id} />}
    </li>
  )
}

const stateClasses: Readonly<Record<Delivery['state'], string>> = {
  delivered: 'chip',
  retrying: 'chip warm',
  held: 'chip',
  dead: 'chip grave',
  replaying: 'chip warm',
}

function Deliveries({ id }: { id: string }) {
  const client = useClient()
  const tell = useTell()
  const sent = usePages(id, async (cursor) => {
    const { deliveries: items, next_cursor } = await client.webhooks.deliveries({
      ...{ id, limit: 20 },
      ...(cursor && { cursor }),
    })
    return { items, next_cursor }
  })
  const again = async (delivery?: string) => {
    const { replaying } = await client.webhooks.replay({ id, ...(delivery === undefined ? {} : { delivery }) })
    tell(t.deliveries.replayed({ count: replaying }))
    sent.reload()
  }
  return (
    <section className="stack" aria-label={t.deliveries.title}>
      <div className="row wrap">
        <button type="button" className="button small" onClick={sent.reload}>
          <Icon name="retry" /> {t.deliveries.refresh}
        </button>
        {sent.value?.some(({ state }) => state === 'dead') && (
          <ActButton className="button small" onPress={() => again()}>
            {t.deliveries.retryAll}
          </ActButton>
        )}
      </div>
      <Listed loaded={sent} empty={<p className="hint">{t.deliveries.empty}</p>}>
        {(all) => (
          <ul className="quiet-list" aria-label={t.deliveries.list}>
            {all.map((delivery) => (
              <OneDelivery key={delivery.id} delivery={delivery} onAgain={() => again(delivery.id)} />
            ))}
          </ul>
        )}
      </Listed>
      {sent.more && (
        <ActButton className="button small" onPress={sent.more}>
          {t.deliveries.older}
        </ActButton>
      )}
    </section>
  )
}

function OneDelivery({ delivery, onAgain }: { delivery: Delivery; onAgain: () => Promise<void> }) {
  const { type, state, status, error, milliseconds, attempts, at, next_at } = delivery
  const className = stateClasses[state]
  const title = t.states[state]
  const outcome = error ?? t.deliveries.outcome({ status: `${status}`, time: milliseconds })
  const tries = attempts > 1 ? `, ${t.deliveries.attempts({ count: attempts })}` : ''
  return (
    <li className="row wrap">
      <span className="grow">
        <strong>{type}</strong> <span className={className}>{title}</span>
        <small className="hint">
          <time dateTime={at}>{fullTimeOf(at)}</time>: {outcome}
          {tries}
          {next_at !== null && (
            <>
              ,{' '}
              {t.deliveries.next({
                time: (parts) => <time dateTime={next_at}>{parts}</time>,
                at: fullTimeOf(next_at),
              })}
            </>
          )}
        </small>
      </span>
      {(state === 'delivered' || state === 'dead') && (
        <ActButton className="button small" onPress={onAgain}>
          {t.deliveries.retry}
        </ActButton>
      )}
    </li>
  )
}
