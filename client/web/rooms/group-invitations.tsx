import { useCallback, useEffect } from 'react'
import { table } from '#client/sdk/table'
import type { GroupInvitation } from '#shared/api/rooms/group-invitations'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { askedOnce, forgetAnswer } from '../kit/asked-once.ts'
import { nameOf } from '../kit/format.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { sidebarTexts as t } from '../texts/sidebar.ts'
import styles from './group-invitations.module.css'
import roomsStyles from './rooms.module.css'
import { goTo } from './route.ts'
import { useRoomList } from './use-rooms.ts'

const name = 'group-invitations'

/** The groups that somebody who is no friend asks one into; nothing is shown where there are none. */
export function GroupInvitations() {
  const client = useClient()
  const rooms = useRoomList()
  const {
    value,
    reload: load,
    change: show,
  } = useLoaded<readonly GroupInvitation[]>(name, () =>
    askedOnce(client, name, async () => (await client.groupInvitations.list({})).invitations),
  )
  const reload = useCallback(() => {
    forgetAnswer(client, name)
    load()
  }, [client, load])
  const change = useCallback(
    (next: (all: readonly GroupInvitation[]) => readonly GroupInvitation[]) => {
      forgetAnswer(client, name)
      show(next)
    },
    [client, show],
  )
  useEffect(() => client.on(table.events.groupInvited, reload), [client, reload])
  useEffect(
    () =>
      client.on(table.events.groupInvitationEnded, ({ invitation }) =>
        change((all) => all.filter(({ id }) => id !== invitation.id)),
      ),
    [client, change],
  )
  if (!value || value.length === 0) return null

  const answered = (answer: GroupInvitation) => change((all) => all.filter(({ id }) => id !== answer.id))
  /** What is refused may wait no more, and of that not every page has heard. */
  const lookAgain = (error: unknown) => {
    reload()
    throw error
  }
  const join = async (invitation: GroupInvitation) => {
    const { id, group_id } = invitation
    await client.groupInvitations.accept({ id }).catch(lookAgain)
    answered(invitation)
    rooms.reload()
    goTo({ type: 'group', id: group_id })
  }
  const decline = async (invitation: GroupInvitation) => {
    await client.groupInvitations.decline({ id: invitation.id }).catch(lookAgain)
    answered(invitation)
  }

  return (
    <section className={styles.groupInvitations} aria-labelledby="group-invitations">
      <h2 id="group-invitations" className="section-title">
        {t.invitations.title}
      </h2>
      <ul>
        {value.map((invitation) => (
          <li key={invitation.id}>
            <span className={`row ${roomsStyles.invited}`}>
              <span className={roomsStyles.sign} aria-hidden="true">
                {invitation.group_emoji}
              </span>
              <span className="grow">
                <strong>
                  <bdi>{invitation.group_name}</bdi>
                </strong>
                <small className="hint">
                  {t.invitations.from({
                    name: inviterOf(invitation),
                    count: invitation.member_count,
                    who: (parts) => <bdi title={invitation.inviter_address}>{parts}</bdi>,
                  })}
                </small>
              </span>
            </span>
            <span className="row end">
              <ActButton
                className="button small plain"
                aria-label={t.invitations.declineOf({ name: invitation.group_name })}
                onPress={() => decline(invitation)}
              >
                {t.invitations.decline}
              </ActButton>
              <ActButton
                className="button small main"
                aria-label={t.invitations.joinOf({ name: invitation.group_name })}
                onPress={() => join(invitation)}
              >
                {t.invitations.join}
              </ActButton>
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}

const inviterOf = ({ inviter_name, inviter_address }: GroupInvitation) => nameOf(inviter_name, inviter_address)
