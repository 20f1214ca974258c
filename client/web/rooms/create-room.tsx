import { type FormEvent, useState } from 'react'
import { useClient } from '../connection/client.ts'
import { Dialog } from '../kit/dialog.tsx'
import { Problem } from '../kit/notice.tsx'
import { findPeople } from './find-people.ts'
import { goTo } from './route.ts'
import { refOf, useRoomList } from './use-rooms.ts'

export function CreateRoom({ onClose }: { onClose: () => void }) {
  const client = useClient()
  const { reload } = useRoomList()
  const [kind, setKind] = useState<'channel' | 'group'>('channel')
  const [name, setName] = useState('')
  const [about, setAbout] = useState('')
  const [error, setError] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)

  const create = async () => {
    if (kind === 'channel') {
      const { channel } = await client.rooms.createChannel({ name, description: about.trim() || null })
      return channel
    }
    const memberAddresses = await findPeople(client, about)
    const { group } = await client.rooms.createGroup({ name, memberAddresses })
    return group
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    setBusy(true)
    try {
      const room = await create()
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
          <Choice
            title="Channel"
            text="Open to everyone. You own it and set its rules."
            isChosen={kind === 'channel'}
            onChoose={() => setKind('channel')}
          />
          <Choice
            title="Group"
            text="Only for the people you bring in."
            isChosen={kind === 'group'}
            onChoose={() => setKind('group')}
          />
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
          <span>
            {kind === 'channel'
              ? 'What it is about (optional)'
              : 'Names, @usernames or addresses of the members (optional)'}
          </span>
          <textarea
            className="input"
            rows={3}
            maxLength={kind === 'channel' ? 500 : 4_500}
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
            {isBusy ? 'Creating…' : kind === 'channel' ? 'Create channel' : 'Create group'}
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
