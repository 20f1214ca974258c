import { useEffect, useRef } from 'react'
import { roomKey } from '#shared/kit/room-key'
import { useNames } from '../accounts/names.ts'
import { useClient } from '../connection/client.ts'
import { ActButton } from '../kit/act-button.tsx'
import { fullTimeOf, isolated } from '../kit/format.ts'
import { Blank, Listed } from '../kit/notice.tsx'
import { useLoaded } from '../kit/use-loaded.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { moderationTexts as t } from '../texts/moderation.ts'
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
    const done = t.done[action]({ name: nameFor(person) })
    await act({ room: live.ref, action, target: person }, done)
    reload()
  }

  return (
    <Listed loaded={people} empty={<Blank icon="check" title={t.restricted.empty} />}>
      {(rows) => (
        <ul className="quiet-list" aria-label={t.restricted.list}>
          {rows.map((row) => (
            <li key={row.id} className="row">
              <span className="grow">
                <strong title={row.person}>{nameFor(row.person)}</strong>
                <small>{stateText(row)}</small>
              </span>
              <ActButton className="button small" onPress={() => lift(row)}>
                {row.kind === 'banned' ? t.actions.unban : t.actions.unmute}
              </ActButton>
            </li>
          ))}
        </ul>
      )}
    </Listed>
  )
}

function stateText({ kind, until, reason }: Restriction): string {
  const state = until ? t.restrictedUntil[kind]({ time: fullTimeOf(until) }) : t.restrictedForever[kind]
  return reason ? t.restricted.withReason({ state, reason: isolated(reason) }) : state
}

const restriction = (
  kind: Restriction['kind'],
  { id, user_address, reason }: { id: string; user_address: string; reason: string | null },
  until: string | null,
): Restriction => ({ id, person: user_address, kind, until, reason })
