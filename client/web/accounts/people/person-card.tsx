import { type FormEvent, useEffect, useState } from 'react'
import { mediaIn, uploadEvidence } from '#client/sdk/media'
import type { Client, LiveRoom, LocalMessage } from '#client/sdk/types'
import { reportTypes } from '#shared/api/moderation/social'
import { contactNoteChanged, noteLength } from '#shared/api/people/contact-notes'
import { isSameAccount } from '#shared/kit/accounts'
import { cut } from '#shared/kit/cut'
import { linkTo } from '#shared/kit/pages'
import { isDeleted } from '#shared/kit/person-name'
import { idOfAgent } from '#shared/kit/room-agents'
import { conversationOf } from '#shared/kit/room-key'
import { ringUp } from '../../calls/ring.ts'
import { useClient } from '../../connection/client.ts'
import { useOpenDm } from '../../direct/use-open-dm.ts'
import { knows, useFriends, withRequest } from '../../friends/use-friends.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Avatar } from '../../kit/avatar.tsx'
import { ConfirmButton } from '../../kit/confirm-button.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { nameOf, shortAddress } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { Problem } from '../../kit/notice.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { useSubmit } from '../../kit/use-submit.ts'
import { openSealed } from '../../media/stored.ts'
import { evidenceOf } from '../../media/words.ts'
import { PersonModeration } from '../../moderation/act-form.tsx'
import { openPage } from '../../rooms/route.ts'
import { confirmationTexts } from '../../texts/confirmations.ts'
import { peopleTexts as t } from '../../texts/people.ts'
import { valueText, valueTexts } from '../../texts/values.ts'
import styles from '../accounts.module.css'
import type { PersonOfInterest } from '../person-of-interest.ts'
import { statusOf } from '../profile/status-of.ts'
import { useSession } from '../session.ts'
import { useBlocked, useBlocks } from '../use-blocked.ts'
import { FriendTag } from './friend-tag.tsx'

export function PersonCard({ person, onClose }: { person: PersonOfInterest; onClose: () => void }) {
  const client = useClient()
  const { account, status } = useSession()
  const openDm = useOpenDm()
  const blocks = useBlocks()
  const isBlocked = useBlocked().has(person.id)
  const tell = useTell()
  const [isReporting, setReporting] = useState(person.isReported ?? false)
  const name = nameOf(person.name, person.id)
  const { value: friends, change: changeFriends, reload: reloadFriends } = useFriends()
  const isStranger = friends !== null && !knows(friends, person.id)
  const isMyself = isSameAccount(person.id, account)
  const isScripted = person.id.startsWith('demo:')
  const agent = idOfAgent(person.id)
  const shown = useLoaded(person.id, async () => (await client.accounts.publicUser({ address: person.id })).user)
  const said = statusOf(shown.value)
  const isUnknown = !shown.isLoading && shown.error === null && shown.value === null
  const isGone = isDeleted(person.id) || (isUnknown && agent === null && !isScripted)
  const isReachable = agent === null && !isScripted && !isBlocked && !isGone

  const message = async () => {
    await openDm(person.id)
    onClose()
  }
  const befriend = async () => {
    const { request } = await client.friends.request({ toAddress: person.id })
    if (request.status === 'pending') changeFriends(withRequest(request, account))
    else reloadFriends()
    tell((request.status === 'pending' ? t.requestSent : t.nowFriends)({ name }))
  }
  const ask = async () => {
    openPage(agent === null ? linkTo('agents') : linkTo('agentChat', { agent }))
    onClose()
  }
  const block = async () => {
    await (isBlocked ? client.social.unblock : client.social.block)({ userAddress: person.id })
    blocks.changed()
    tell((isBlocked ? t.unblocked : t.blocked)({ name }))
    onClose()
  }

  return (
    <Dialog title={isReporting ? t.report({ name }) : name} onClose={onClose}>
      {isReporting ? (
        <ReportForm person={person} onDone={onClose} />
      ) : (
        <div className="stack">
          <div className="row">
            <Avatar id={person.id} name={name} size="large" />
            <div className="grow">
              {shown.value?.username && (
                <p>
                  <bdi>@{shown.value.username}</bdi>
                </p>
              )}
              {!isScripted && agent === null && (
                <code className={styles.address} title={person.id}>
                  {shortAddress(person.id)}
                </code>
              )}
              <p className="row wrap">
                {isScripted && <span className="chip">{t.scripted}</span>}
                {agent !== null && <span className="chip">{t.agent}</span>}
                {shown.value?.is_bot && <span className="chip">{t.bot}</span>}
                {person.role && person.role !== 'member' && (
                  <span className="chip">{valueText(valueTexts.roles, person.role)}</span>
                )}
                {isMyself && <span className="chip">{t.you}</span>}
              </p>
              {said && <p>{said}</p>}
            </div>
          </div>
          {isMyself && (
            <div className="row">
              <a className="button main" href={linkTo('profileOwn')} onClick={onClose}>
                <Icon name="grid" />
                {t.ownProfile}
              </a>
            </div>
          )}
          {!isMyself && isGone && <p role="status">{t.unavailable}</p>}
          {!isMyself && (
            <div className="row wrap">
              {!isGone && (
                <ActButton className="button main" onPress={agent === null ? message : ask}>
                  <Icon name="message" />
                  {agent === null ? t.message : t.chat}
                </ActButton>
              )}
              {isReachable && status?.meetings === null && (
                <>
                  <ActButton className="button" onPress={() => ringUp(client, person.id, 'video')}>
                    <Icon name="camera" />
                    {t.call}
                  </ActButton>
                  <ActButton className="button" onPress={() => ringUp(client, person.id, 'audio')}>
                    <Icon name="phone" />
                    {t.voiceCall}
                  </ActButton>
                </>
              )}
              {isReachable && (
                <a className="button" href={linkTo('profile', { address: person.id })} onClick={onClose}>
                  <Icon name="grid" />
                  {t.profile}
                </a>
              )}
              {isReachable && isStranger && (
                <ActButton className="button" onPress={befriend}>
                  <Icon name="plus" />
                  {t.addFriend}
                </ActButton>
              )}
              {isBlocked ? (
                <ActButton className="button" onPress={block}>
                  <Icon name="block" />
                  {t.unblock}
                </ActButton>
              ) : (
                <ConfirmButton title={t.block} icon="block" question={confirmationTexts.block} onConfirm={block} />
              )}
              <button type="button" className="button" onClick={() => setReporting(true)}>
                <Icon name="flag" />
                {t.reportThem}
              </button>
            </div>
          )}
          {!isMyself && agent === null && <FriendTag address={person.id} />}
          {!isMyself && <ContactNote subject={person.id} />}
          {person.live && !isMyself && <PersonModeration person={person} live={person.live} onDone={onClose} />}
        </div>
      )}
    </Dialog>
  )
}

function ReportForm({ person, onDone }: { person: PersonOfInterest; onDone: () => void }) {
  const client = useClient()
  const tell = useTell()
  const { account } = useSession()
  const blocks = useBlocks()
  const [reportType, setReportType] = useState<(typeof reportTypes)[number]>('spam')
  const [description, setDescription] = useState('')
  const [alsoBlock, setAlsoBlock] = useState(false)
  const [isShown, setShown] = useState(false)
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)

  const media = sealedMediaOf(person.live?.state.messages.find(({ id }) => id === person.messageId))
  const kind = media?.kind === 'voice' ? 'voice' : 'picture'

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    const room = person.live?.ref
    try {
      const evidence = isShown && person.live && media ? await handIn(client, person.live, media) : null
      await client.social.report({
        reportedAddress: person.id,
        reportType,
        description: description.trim() || null,
        alsoBlock,
        evidence,
        ...(room ? conversationOf(room, account) : {}),
        ...(person.messageId ? { messageId: person.messageId } : {}),
        ...(person.messageText ? { messageContent: cut(person.messageText, 1_000) } : {}),
      })
      if (alsoBlock) blocks.changed()
      tell(t.form.sent)
      onDone()
    } catch (cause) {
      setError(cause)
      setBusy(false)
    }
  }

  return (
    <form className="stack" onSubmit={submit}>
      {person.messageText && <blockquote className="quoted">{evidenceOf(person.messageText)}</blockquote>}
      <fieldset className="row wrap">
        <legend className="label">{t.form.category}</legend>
        {reportTypes.map((type) => (
          <button
            key={type}
            type="button"
            className="chip"
            aria-pressed={type === reportType}
            onClick={() => setReportType(type)}
          >
            {valueText(valueTexts.reports, type)}
          </button>
        ))}
      </fieldset>
      <label className="field">
        <span>{t.form.description}</span>
        <textarea
          dir="auto"
          className="input"
          rows={3}
          maxLength={2_000}
          value={description}
          onChange={(event) => setDescription(event.target.value)}
        />
      </label>
      {media && (
        <div>
          <label className="check">
            <input
              type="checkbox"
              aria-describedby="evidence-hint"
              checked={isShown}
              onChange={(event) => setShown(event.target.checked)}
            />
            {t.form.evidence({ kind })}
          </label>
          <p id="evidence-hint" className="hint">
            {t.form.evidenceHint({ kind })}
          </p>
        </div>
      )}
      <label className="check">
        <input type="checkbox" checked={alsoBlock} onChange={(event) => setAlsoBlock(event.target.checked)} />
        {t.form.alsoBlock}
      </label>
      <Problem error={error} />
      <div className="row end">
        <button type="submit" className="button main" aria-disabled={isBusy || undefined}>
          {t.form.send}
        </button>
      </div>
    </form>
  )
}

interface SealedMedia {
  message: LocalMessage
  kind: 'image' | 'voice'
  type: string
  url: string
}

/** The sealed media that a message names, and that was opened here; null where it names none. The server cannot show these to moderators. */
function sealedMediaOf(message: LocalMessage | undefined): SealedMedia | null {
  const media = message?.secrecy?.isSecret ? mediaIn(message.content, message.message_type) : null
  if (!message || !media || (media.kind !== 'image' && media.kind !== 'voice')) return null
  return { message, kind: media.kind, type: media.kind === 'image' ? media.type : 'audio/webm', url: media.url }
}

/** Opens the media once more and hands them in; answers with what a report names them by. */
async function handIn(client: Client, live: LiveRoom, { message, type, url }: SealedMedia): Promise<string> {
  const { mediaSalt: salt, epochId } = message.secrecy ?? {}
  const key = live.conversationKey(epochId).then((opened) => opened.key)
  const data = await openSealed({ url, type, key })
  return (await uploadEvidence(client, { messageId: message.id, url, salt, data })).evidence
}

/** What the account has noted about somebody. What another device writes takes the place of what was read, not of what is being written. */
function ContactNote({ subject }: { subject: string }) {
  const client = useClient()
  const tell = useTell()
  const note = useLoaded(subject, async () => (await client.contactNotes.read({ subject })).notes ?? '')
  const [draft, setDraft] = useState<string | null>(null)
  const { change } = note
  useEffect(
    () =>
      client.on(contactNoteChanged, ({ subject_address, notes }) => {
        if (isSameAccount(subject_address, subject)) change(() => notes ?? '')
      }),
    [client, subject, change],
  )

  const { isBusy, problem, submit } = useSubmit(async () => {
    if (draft === null) return
    const { notes } = await client.contactNotes.write({ subject, notes: draft })
    note.change(() => notes ?? '')
    setDraft(null)
    tell(notes === null ? t.note.removed : t.note.saved)
  })

  const isChanged = draft !== null && draft !== note.value
  return (
    <form className="stack" onSubmit={submit}>
      <label className="field">
        <span>{t.note.field}</span>
        <textarea
          dir="auto"
          className="input"
          rows={2}
          maxLength={noteLength}
          readOnly={note.value === null}
          value={draft ?? note.value ?? ''}
          onChange={({ target }) => setDraft(target.value)}
        />
        <small>{t.note.hint}</small>
      </label>
      <Problem error={note.error} onRetry={note.reload} />
      <Problem error={problem} />
      {isChanged && (
        <div className="row end">
          <button type="button" className="button small" onClick={() => setDraft(null)}>
            {t.note.discard}
          </button>
          <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
            {t.note.save}
          </button>
        </div>
      )}
    </form>
  )
}
