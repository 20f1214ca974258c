import { useState } from 'react'
import { navigate } from 'wouter/use-browser-location'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { idOfAgent } from '#shared/kit/room-agents'
import { ringUp } from '../../calls/ring.ts'
import { useClient } from '../../connection/client.ts'
import { useOpenDm } from '../../direct/use-open-dm.ts'
import { knows, useFriends, withRequest } from '../../friends/use-friends.ts'
import { ActButton } from '../../kit/act-button.tsx'
import { Avatar } from '../../kit/avatar.tsx'
import { Dialog } from '../../kit/dialog.tsx'
import { nameOf, shortAddress } from '../../kit/format.ts'
import { Icon } from '../../kit/icon.tsx'
import { useTell } from '../../kit/toasts.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { PersonModeration } from '../../moderation/person-moderation.tsx'
import { peopleTexts as t } from '../../texts/people.ts'
import { valueText, valueTexts } from '../../texts/values.ts'
import styles from '../accounts.module.css'
import type { PersonOfInterest } from '../person-of-interest.ts'
import { statusOf } from '../profile/status-of.ts'
import { useSession } from '../session.ts'
import { useBlocked, useBlocks } from '../use-blocked.ts'
import { ContactNote } from './contact-note.tsx'
import { FriendTag } from './friend-tag.tsx'
import { ReportForm } from './report-form.tsx'

export function PersonCard({ person, onClose }: { person: PersonOfInterest; onClose: () => void }) {
  const client = useClient()
  const { account, status } = useSession()
  const openDm = useOpenDm()
  const blocks = useBlocks()
  const isBlocked = useBlocked().has(person.id)
  const tell = useTell()
  const [isReporting, setReporting] = useState(false)
  const name = nameOf(person.name, person.id)
  const { value: friends, change: changeFriends, reload: reloadFriends } = useFriends()
  const isStranger = friends !== null && !knows(friends, person.id)
  const isMyself = isSameAccount(person.id, account)
  const isScripted = person.id.startsWith('demo:')
  const agent = idOfAgent(person.id)
  const shown = useLoaded(person.id, async () => (await client.accounts.publicUser({ address: person.id })).user)
  const said = statusOf(shown.value)

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
    navigate(agent === null ? linkTo('agents') : linkTo('agentChat', { agent }))
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
          {!isMyself && (
            <div className="row wrap">
              <ActButton className="button main" onPress={agent === null ? message : ask}>
                <Icon name="message" />
                {agent === null ? t.message : t.chat}
              </ActButton>
              {agent === null && !isScripted && !isBlocked && status?.meetings === null && (
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
              {agent === null && !isScripted && !isBlocked && (
                <a className="button" href={linkTo('profile', { address: person.id })} onClick={onClose}>
                  <Icon name="grid" />
                  {t.profile}
                </a>
              )}
              {agent === null && !isScripted && !isBlocked && isStranger && (
                <ActButton className="button" onPress={befriend}>
                  <Icon name="plus" />
                  {t.addFriend}
                </ActButton>
              )}
              <ActButton className="button" onPress={block}>
                <Icon name="block" />
                {isBlocked ? t.unblock : t.block}
              </ActButton>
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
