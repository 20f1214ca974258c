import { type FormEvent, useState } from 'react'
import type { Client } from '#client/sdk/types'
import type { Room } from '#shared/api/room'
import type { FoundedType, FoundingOperation } from '#shared/kit/room-kinds'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { findPeople } from './find-people.ts'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

interface Form {
  title: string
  text: string
  /** The field beside the name, and its longest value. */
  about: string
  aboutAtMost: number
  create(client: Client, name: string, about: string): Promise<Room>
}

const channelForm: Form = {
  title: 'Channel',
  text: 'Open to everyone. You own it and set its rules.',
  about: 'What it is about (optional)',
  aboutAtMost: 500,
  create: async (client, name, about) =>
    (await client.rooms.createChannel({ name, description: about.trim() || null })).channel,
}
const groupForm: Form = {
  title: 'Group',
  text: 'Only for the people you bring in.',
  about: 'Names, @usernames or addresses of the members (optional)',
  aboutAtMost: 4_500,
  create: async (client, name, about) =>
    (await client.rooms.createGroup({ name, memberAddresses: await findPeople(client, about) })).group,
}
/** The form for each kind of room that accounts can create, by its operation; does not compile with one missing. */
const forms: Readonly<Record<FoundingOperation<FoundedType>, Form>> = {
  createChannel: channelForm,
  createGroup: groupForm,
}

export function CreateRoom({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const [form, setForm] = useState(channelForm)
  const [name, setName] = useState('')
  const [about, setAbout] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const room = await form.create(client, name, about)
      reload()
      goTo(refOf(room))
      onClose()
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }

  return (
    <Dialog title="New room" onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <fieldset className="choices">
          <legend className="unseen">Kind of room</legend>
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
          <span>Name</span>
          <input
            className="input"
            required
            maxLength={100}
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </label>
        <label className="field">
          <span>{form.about}</span>
          <textarea
            className="input"
            rows={3}
            maxLength={form.aboutAtMost}
            value={about}
            onChange={(event) => setAbout(event.target.value)}
          />
        </label>
        <Problem error={error} />
        <div className="row end">
          <button type="button" className="button plain" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" className="button main" disabled={isBusy || !name.trim()}>
            {isBusy ? 'Creating…' : `Create ${form.title.toLowerCase()}`}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function Choice(props: { title: string; text: string; isChosen: boolean; onChoose: () => void }) {
  return (
    <label className="choice">
      <input type="radio" name="kind" checked={props.isChosen} onChange={props.onChoose} />
      <span>
        <strong>{props.title}</strong>
        <small>{props.text}</small>
      </span>
    </label>
  )
}
