import { useState } from 'react'
import type { Delivery, Webhook } from '#shared/api/webhooks'
import type { RoomRef } from '#shared/kit/primitives'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { fullTimeOf, plural } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { Listed } from '../kit/notice.tsx'
import { ShownOnce } from '../kit/shown-once.tsx'
import { useTell } from '../kit/toasts.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { usePages } from '../kit/use-pages.ts'
import { ConfirmButton } from '../moderation/confirm-button.tsx'
import { useOpenRoom } from './room-context.ts'

/** The caller's webhooks of the open room: where its events are sent, and what came of that. */
export function WebhooksDialog({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const [secret, setSecret] = useState<string | null>(null)
  const here = ({ rooms }: Webhook) => rooms.some((room) => roomKey(room) === roomKey(live.ref))
  const hooks = useLoaded(roomKey(live.ref), async () => (await client.webhooks.list({})).webhooks.filter(here))
  return (
    <Dialog title="Webhooks" onClose={onClose} isBroad>
      <div className="stack wide">
        <p className="hint">
          What happens in this room is sent to a server of yours as well, each event signed. You see your own webhooks
          alone.
        </p>
        <NewHook
          room={live.ref}
          onMade={(made) => {
            setSecret(made)
            hooks.reload()
          }}
        />
        {secret !== null && (
          <ShownOnce
            what="secret"
            label="The secret"
            value={secret}
            hint="It is shown this once. With it your server knows that a request comes from here."
          />
        )}
        <Listed loaded={hooks} empty={<p className="hint">You have no webhook here yet.</p>}>
          {(all) => (
            <ul className="quiet-list" aria-label="Your webhooks">
              {all.map((hook) => (
                <Hook key={hook.id} hook={hook} onChange={hooks.reload} onSecret={setSecret} />
              ))}
            </ul>
          )}
        </Listed>
      </div>
    </Dialog>
  )
}

const choices = [
  ['Everything', null],
  ['New messages', ['message.created']],
  ['Messages and their changes', ['message.created', 'message.edited', 'message.deleted', 'messages.purged']],
  ['Who comes and goes', ['member.joined', 'member.left', 'member.removed']],
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
    <MakeForm label="New webhook" action="Add webhook" onMake={make}>
      <label className="field">
        <span>Address</span>
        <input
          className="input"
          type="url"
          dir="ltr"
          required
          placeholder="https://example.com/plaza"
          value={url}
          onChange={({ target }) => setUrl(target.value)}
        />
      </label>
      <label className="field">
        <span>What is sent</span>
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

const reasons: Readonly<Record<NonNullable<Webhook['stopped']>['reason'], string>> = {
  PAUSED: 'Paused',
  GONE: 'Stopped: its server wants nothing more (410)',
  FAILING: 'Stopped: nothing was taken for five days',
  RIGHT_LOST: 'Stopped: you may not have these events any more',
}

const stateOf = ({ stopped, failing_since }: Webhook): [className: string, title: string] => {
  if (stopped) return [stopped.reason === 'PAUSED' ? 'chip' : 'chip grave', reasons[stopped.reason]]
  return failing_since === null ? ['chip', 'On'] : ['chip warm', `Not taken since ${fullTimeOf(failing_since)}`]
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
    setSaid(attempt.error ?? `Taken: ${attempt.status}, after ${attempt.milliseconds} ms.`)
  }
  const rotate = async () => {
    onSecret((await client.webhooks.rotate({ id, idempotency_key: crypto.randomUUID() })).secret)
    setSaid('Both secrets sign for 24 hours.')
  }
  const remove = async () => {
    await client.webhooks.remove({ id })
    onChange()
  }
  return (
    <li className="stack">
      <span>
        <strong dir="ltr">{url}</strong>
        <small className="hint">{kinds === null ? 'Every event' : kinds.join(', ')}</small>
      </span>
      <span>
        <span className={className}>{title}</span>
      </span>
      <div className="row wrap">
        <ActButton className="button small" onPress={() => set(!enabled)}>
          {enabled ? 'Pause' : 'Go on'}
        </ActButton>
        <ActButton className="button small" onPress={test}>
          Test
        </ActButton>
        <button type="button" className="button small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Deliveries
        </button>
        <ConfirmButton title="New secret" onConfirm={rotate} />
        <ConfirmButton title="Remove" onConfirm={remove} />
      </div>
      <p className="hint" role="status">
        {said}
      </p>
      {isOpen && <Deliveries id={id} />}
    </li>
  )
}

const states: Readonly<Record<Delivery['state'], [className: string, title: string]>> = {
  delivered: ['chip', 'taken'],
  retrying: ['chip warm', 'comes again'],
  held: ['chip', 'waits until the webhook goes on'],
  dead: ['chip grave', 'given up'],
  replaying: ['chip warm', 'is sent again'],
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
    tell(`${plural(replaying, 'delivery', 'deliveries')} sent again.`)
    sent.reload()
  }
  return (
    <section className="stack" aria-label="Deliveries">
      <div className="row wrap">
        <button type="button" className="button small" onClick={sent.reload}>
          <Icon name="retry" /> Look again
        </button>
        {sent.value?.some(({ state }) => state === 'dead') && (
          <ActButton className="button small" onPress={() => again()}>
            Send all given up again
          </ActButton>
        )}
      </div>
      <Listed loaded={sent} empty={<p className="hint">Nothing was sent yet.</p>}>
        {(all) => (
          <ul className="quiet-list" aria-label="Last deliveries">
            {all.map((delivery) => (
              <OneDelivery key={delivery.id} delivery={delivery} onAgain={() => again(delivery.id)} />
            ))}
          </ul>
        )}
      </Listed>
      {sent.more && (
        <ActButton className="button small" onPress={sent.more}>
          Show earlier ones
        </ActButton>
      )}
    </section>
  )
}

function OneDelivery({ delivery, onAgain }: { delivery: Delivery; onAgain: () => Promise<void> }) {
  const { type, state, status, error, milliseconds, attempts, at, next_at } = delivery
  const [className, title] = states[state]
  const outcome = error ?? `${status} after ${milliseconds} ms`
  const tries = attempts > 1 ? `, ${plural(attempts, 'attempt')}` : ''
  return (
    <li className="row wrap">
      <span className="grow">
        <strong>{type}</strong> <span className={className}>{title}</span>
        <small className="hint">
          <time dateTime={at}>{fullTimeOf(at)}</time>: {outcome}
          {tries}
          {next_at !== null && (
            <>
              , next <time dateTime={next_at}>{fullTimeOf(next_at)}</time>
            </>
          )}
        </small>
      </span>
      {(state === 'delivered' || state === 'dead') && (
        <ActButton className="button small" onPress={onAgain}>
          Send again
        </ActButton>
      )}
    </li>
  )
}
