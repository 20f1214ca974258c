import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { linkTo } from '#shared/kit/pages'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { Problem } from '../kit/notice.tsx'
import { useSubmit } from '../kit/use-submit.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { streamProblems } from './stream-words.ts'

interface Described {
  title: string
  description: string | null
}

/** What the streamer does with a stream, also when it has ended: describes it otherwise, or deletes it with its recordings. */
export function OwnStream(props: {
  id: PublicStream['id']
  described: Described
  onDescribed: (described: Described) => void
}) {
  const { id, described, onDescribed } = props
  const client = useClient()
  const { reload } = useRoomList()
  const [isEditing, setEditing] = useState(false)
  const remove = async () => {
    await client.streams.remove({ id })
    reload()
    navigate(linkTo('live'))
  }
  return (
    <div className="row wrap">
      <button type="button" className="button small" onClick={() => setEditing(true)}>
        <Icon name="pencil" />
        {t.edit.open}
      </button>
      <ConfirmButton title={t.edit.remove} question={confirmationTexts.ownStream} onConfirm={remove} />
      {isEditing && <EditStream id={id} described={described} onDone={onDescribed} onClose={() => setEditing(false)} />}
    </div>
  )
}

function EditStream(props: {
  id: string
  described: Described
  onDone: (described: Described) => void
  onClose: () => void
}) {
  const { id, described, onDone, onClose } = props
  const client = useClient()
  const [title, setTitle] = useState(described.title)
  const [description, setDescription] = useState(described.description ?? '')
  const { isBusy, problem, submit } = useSubmit(async () => {
    const wanted = { title: title.trim(), description: description.trim() || null }
    const { stream } = await client.streams.change({ id, ...wanted })
    onDone(stream)
    onClose()
  })
  return (
    <Dialog title={t.edit.title} onClose={onClose}>
      <form className="stack" onSubmit={submit}>
        <label className="field">
          <span>{t.create.title}</span>
          <input
            dir="auto"
            className="input"
            maxLength={100}
            required
            value={title}
            onChange={({ target }) => setTitle(target.value)}
          />
        </label>
        <label className="field">
          <span>{t.edit.description}</span>
          <textarea
            dir="auto"
            className="input"
            rows={4}
            maxLength={500}
            value={description}
            onChange={({ target }) => setDescription(target.value)}
          />
        </label>
        <Problem error={problem} words={streamProblems} />
        <div className="row end">
          <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
            {t.edit.save}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
