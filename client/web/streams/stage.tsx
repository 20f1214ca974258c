import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import type { StreamCount, StreamView } from '#client/sdk/streams'
import type { PublicStream } from '#shared/api/streams/stream-records'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { useAccount, useClient } from '../connection/client.ts'
import { Avatar } from '../kit/avatar.tsx'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated, nameOf } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { Blank, Problem, Skeleton } from '../kit/notice.tsx'
import { problemText } from '../kit/problem.ts'
import { useSubmit } from '../kit/use-submit.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { confirmationTexts } from '../texts/confirmations.ts'
import { streamTexts as t } from '../texts/streams.ts'
import { Badge } from './badge.tsx'
import { Ended, type Replayed } from './ended.tsx'
import { notPlaying, type Playing } from './play.ts'
import { Player } from './player.tsx'
import styles from './stage.module.css'
import streamsStyles from './streams.module.css'
import { Studio } from './studio.tsx'
import { behindText, streamProblems } from './use-stream.ts'

/** What is seen of a stream: its picture, what its streamer works with, or its recordings. */
export function Stage(props: { view: StreamView | null; onReplay: (replayed: Replayed | null) => void }) {
  const { view, onReplay } = props
  const account = useAccount()
  const [playing, setPlaying] = useState<Playing>(notPlaying)
  /** A description that was changed here: viewers get no event of it. */
  const [edited, setEdited] = useState<{ description: string | null } | null>(null)
  const { error, stream, state, counts } = view ?? { error: null, stream: null, state: null, counts: null }
  if (!view || !stream || !state)
    return (
      <section className={styles.stage} aria-label={t.livestream}>
        {error ? (
          <Blank icon="warn" title={t.player.missing}>
            <p role="alert">{problemText(error, streamProblems)}</p>
          </Blank>
        ) : (
          <Skeleton label={t.player.opening} />
        )}
      </section>
    )
  const { streamer } = stream
  const name = nameOf(streamer.display_name, streamer.address)
  const isOwn = isSameAccount(streamer.address, account)
  const { description } = edited ?? stream
  return (
    <section className={styles.stage} aria-label={t.livestream}>
      {state.status === 'ended' ? (
        <Ended stream={stream} state={state} assets={view.assets} onReplay={onReplay} />
      ) : isOwn ? (
        <Studio stream={stream} state={state} counts={counts} health={view.health} />
      ) : (
        <Player stream={stream} state={state} onPlaying={setPlaying} />
      )}
      <div className={styles.stageFoot}>
        <Avatar id={streamer.address} name={streamer.display_name} />
        <div className="grow">
          <h2>{isolated(state.title)}</h2>
          <p className={streamsStyles.stageFacts}>
            <Badge state={state} />
            <span>{name}</span>
            {counts && <Watching counts={counts} isOver={state.status === 'ended'} />}
            {playing.latency !== null && <span className="numerals">{behindText(playing.latency)}</span>}
          </p>
          {description && (
            <p className={styles.stageAbout} dir="auto">
              {isolated(description)}
            </p>
          )}
          {isOwn && (
            <div className={styles.stageActs}>
              <OwnStream id={stream.id} described={{ title: state.title, description }} onDescribed={setEdited} />
            </div>
          )}
        </div>
      </div>
    </section>
  )
}

function Watching({ counts, isOver }: { counts: StreamCount; isOver: boolean }) {
  const { viewers, peak, unique } = counts
  return (
    <span className="numerals">
      {isOver ? t.viewers({ count: unique, peak }) : t.watchingPeak({ count: viewers, peak })}
    </span>
  )
}

interface Described {
  title: string
  description: string | null
}

/** What the streamer does with a stream, also when it has ended: describes it otherwise, or deletes it with its recordings. */
function OwnStream(props: {
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
