import { type FormEvent, useState } from 'react'
import { wasNotAnswered } from '#client/sdk/failures'
import type { Client } from '#client/sdk/types'
import type { Room } from '#shared/api/rooms/room'
import { AppError } from '#shared/errors'
import { unitsOf } from '#shared/kit/amounts'
import type { FoundedType, FoundingOperation } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { whereIAm } from '../kit/position.ts'
import { newRoomTexts as t } from '../texts/rooms.ts'
import styles from './create-room.module.css'
import { findPeople } from './people-form.tsx'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

interface Form {
  title: string
  text: string
  /** What its button says. */
  create: string
  /** The field beside the name, and its longest value. */
  about: string
  aboutAtMost: number
  /** What else is asked for. */
  more?: readonly { name: string; label: string; value: string }[]
  /** What there is to know before it is created. */
  hint?: string
  found(client: Client, name: string, about: string, more: (name: string) => string): Promise<Room>
}

const channelForm: Form = {
  title: t.createChannel.title,
  text: t.createChannel.hint,
  create: t.createChannel.create,
  about: t.about,
  aboutAtMost: 500,
  found: async (client, name, about) =>
    (await client.rooms.createChannel({ name, description: about.trim() || null })).channel,
}
const groupForm: Form = {
  title: t.createGroup.title,
  text: t.createGroup.hint,
  create: t.createGroup.create,
  about: t.createGroup.members,
  aboutAtMost: 4_500,
  found: async (client, name, about) =>
    (await client.rooms.createGroup({ name, memberAddresses: await findPeople(client, about) })).group,
}
const tokenForm: Form = {
  title: t.createTokenRoom.title,
  text: t.createTokenRoom.hint,
  create: t.createTokenRoom.create,
  about: t.about,
  aboutAtMost: 500,
  more: [
    { name: 'token', label: t.createTokenRoom.address, value: '' },
    { name: 'chain', label: t.createTokenRoom.chain, value: '8453' },
    { name: 'least', label: t.createTokenRoom.least, value: '1' },
  ],
  async found(client, name, about, more) {
    const token = { tokenAddress: more('token').trim(), tokenChainId: Number(more('chain')) }
    if (!/^0x[0-9a-f]{40}$/i.test(token.tokenAddress)) throw new Error(t.createTokenRoom.addressInvalid)
    const asked = client.tokens.info({ address: token.tokenAddress, chainId: token.tokenChainId })
    const { decimals } = await asked.catch((error) => {
      const isMissing = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE' && !wasNotAnswered(error)
      throw isMissing ? new Error(t.createTokenRoom.chainUnknown) : error
    })
    const minBalance = unitsOf(more('least'), decimals)
    if (minBalance === null) throw new Error(t.createTokenRoom.tooFine({ decimals }))
    const input = { ...token, name, minBalance, description: about.trim() || null }
    return (await client.rooms.createTokenRoom(input)).room
  },
}
const locationForm: Form = {
  title: t.createLocationRoom.title,
  text: t.createLocationRoom.hint,
  create: t.createLocationRoom.create,
  about: t.about,
  aboutAtMost: 500,
  more: [{ name: 'radius', label: t.createLocationRoom.radius, value: '500' }],
  hint: t.createLocationRoom.privacy,
  async found(client, name, about, more) {
    const { latitude, longitude } = await whereIAm(4)
    const place = { userLat: latitude, userLng: longitude, radius: Number(more('radius')) }
    return (await client.rooms.createLocationRoom({ ...place, name, description: about.trim() || null })).room
  },
}
/** The form for each kind of room that accounts can create, by its operation; does not compile with one missing. */
const forms: Readonly<Record<FoundingOperation<FoundedType>, Form>> = {
  createChannel: channelForm,
  createGroup: groupForm,
  createTokenRoom: tokenForm,
  createLocationRoom: locationForm,
}

export function CreateRoom({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const [form, setForm] = useState(channelForm)
  const [name, setName] = useState('')
  const [about, setAbout] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const given = new FormData(event.currentTarget)
    setBusy(true)
    try {
      const room = await form.found(client, name, about, (field) => String(given.get(field) ?? ''))
      reload()
      goTo(refOf(room))
      onClose()
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  return (
    <Dialog title={t.title} hasAddress onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <fieldset className={styles.choices}>
          <legend className="unseen">{t.type}</legend>
          {Object.values(forms).map((one) => (
            <Choice
              key={one.title}
              title={one.title}
              text={one.text}
              isChosen={one === form}
              onChoose={() => setForm(one)}
            />
          ))}
        </fieldset>
        <label className="field">
          <span>{t.name}</span>
          <input
            dir="auto"
            className="input"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        {form.more?.map((field) => (
          <label className="field" key={field.name}>
            <span>{field.label}</span>
            <input dir="auto" className="input" required name={field.name} defaultValue={field.value} maxLength={100} />
          </label>
        ))}
        <label className="field">
          <span>{form.about}</span>
          <textarea
            dir="auto"
            className="input"
            rows={3}
            maxLength={form.aboutAtMost}
            aria-describedby={form.hint ? 'form-hint' : undefined}
            value={about}
            onChange={(event) => setAbout(event.target.value)}
          />
        </label>
        {form.hint && (
          <p className="hint" id="form-hint">
            {form.hint}
          </p>
        )}
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            {t.cancel}
          </button>
          <button type="submit" className="button main" disabled={isBusy || !name.trim()}>
            {isBusy ? t.creating : form.create}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Choice(props: { title: string; text: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <label className={styles.choice}>
      <input type="radio" name="kind" checked={props.isChosen} onChange={props.onChoose} />
      <span>
        <strong>{props.title}</strong>
        <small>{props.text}</small>
      </span>
    </label>
  )
}
