import { useEffect, useRef } from 'react'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { chatOf, useAct } from './acts.ts'

interface Restriction {
  id: string
  person: string
  kind: 'banned' | 'muted'
  until: string | null
  reason: string | null
}

/** The people who are banned or muted in this room, each with a button that lifts it; `version` changes with each act. */
export function RestrictedTab({ version }: { version: string }) {
  const client = useClient()
  const { live } = useOpenRoom()
  const act = useAct()
  const people = useLoaded<readonly Restriction[]>(roomKey(live.ref), async () => {
    const { chatType, chatId } = chatOf(live.ref)
    const [bans, mutes] = await Promise.all([
      client.moderation.bans({ chatType, chatId }),
      client.moderation.inspect({ action: 'muted', chatType, channelId: chatId }),
    ])
    const banned = 'bans' in bans ? bans.bans : []
    const muted = 'mutedUsers' in mutes ? mutes.mutedUsers : []
    return [
      ...banned.map((ban) => restriction('banned', ban, ban.banned_until)),
      ...muted.map((mute) => restriction('muted', mute, mute.muted_until)),
    ]
  })
  const { reload } = people
  const loadedAt = useRef(version)
  useEffect(() => {
    if (loadedAt.current === version) return
    loadedAt.current = version
    reload()
  }, [reload, version])
  const nameFor = useNames(people.value?.map(({ person }) => person) ?? [])
  const lift = async ({ kind, person }: Restriction) => {
    const action = kind === 'banned' ? 'unban' : 'unmute'
    const done = kind === 'banned' ? `Ban of ${nameFor(person)} lifted` : `${nameFor(person)} unmuted`
    await act({ room: live.ref, action, target: person }, done)
    reload()
  }

  return (
    <Listed loaded={people} empty={<Blank icon="check" title="Nobody is banned or muted" />}>
      {(rows) => (
        <ul className="quiet-list" aria-label="Banned and muted people">
          {rows.map((row) => (
            <li key={row.id} className="row">
              <span className="grow">
                <strong title={row.person}>{nameFor(row.person)}</strong>
                <small>
                  {row.kind} {row.until ? `until ${fullTimeOf(row.until)}` : 'for good'}
                  {row.reason && `: ${isolated(row.reason)}`}
                </small>
              </span>
              <ActButton className="button small" onPress={() => lift(row)}>
                {row.kind === 'banned' ? 'Lift the ban' : 'Unmute'}
              </ActButton>
            </li>
          ))}
        </ul>
      )}
    </Listed>
  )
}

const restriction = (
  kind: Restriction['kind'],
  { id, user_address, reason }: { id: string; user_address: string; reason: string | null },
  until: string | null,
): Restriction => ({ id, person: user_address, kind, until, reason })
