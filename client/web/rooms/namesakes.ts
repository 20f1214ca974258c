import { createContext, useContext, useMemo, useRef } from 'react'
import type { RoomState } from '#client/sdk/types'
import type { Member } from '#shared/api/rooms/room'
import { looksOf } from '#shared/kit/looks'
import { nameOf } from '#shared/kit/person-name'
import { isAgent } from '#shared/kit/room-agents'
import { roomKey } from '#shared/kit/room-key'
import { useClient } from '../connection/client.ts'
import { askedOnce } from '../kit/asked-once.ts'
import { shortAddress } from '../kit/format.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { roomTexts } from '../texts/rooms.ts'
import { kindOf } from './kind.ts'

interface Named {
  id: string
  name: string | null
  username?: string | null
}

/** Who of the people of a room could be taken for another one. */
interface Namesakes {
  people: readonly Named[]
  /** Who runs the room, as far as it is known. */
  staff: readonly Member[]
  /** The handle of somebody, or their short id (of an agent, that it is one), where the name or the username of another looks the same; else null. */
  markOf(person: Named): string | null
  /** Does the name of somebody who does not run the room look like that of one who does? */
  isLikeStaff(person: Named): boolean
}

const nobody: readonly never[] = []

function namesakesOf(people: readonly Named[], staff: readonly Member[]): Namesakes {
  const known = [...people, ...staff.map(personOf)]
  const byLook = new Map<string, Set<string>>()
  for (const person of known)
    for (const look of [...looksIn(person), ...looksOfUsername(person)])
      byLook.set(look, (byLook.get(look) ?? new Set()).add(person.id))
  const handles = new Map(known.map(({ id, username }) => [id, username]))
  const runs = new Set(staff.map(({ user_address }) => user_address))
  const othersLike = (person: Named) =>
    looksIn(person)
      .flatMap((look) => [...(byLook.get(look) ?? nobody)])
      .filter((id) => id !== person.id)
  return {
    people,
    staff,
    markOf: (person) => {
      const handle = person.username ?? handles.get(person.id)
      if (othersLike(person).length === 0) return null
      return handle ? `@${handle}` : isAgent(person.id) ? roomTexts.agent : shortAddress(person.id)
    },
    isLikeStaff: (person) => !runs.has(person.id) && othersLike(person).some((id) => runs.has(id)),
  }
}

export const personOf = ({ user_address: id, name, username }: Member): Named => ({ id, name, username })

/** What a name may be taken for; one of signs alone looks like itself. */
function looksIn({ id, name }: Named): string[] {
  const shown = nameOf(name, id)
  const looks = looksOf(shown).filter(Boolean)
  return looks.length > 0 ? [...new Set(looks)] : [shown]
}

const looksOfUsername = ({ username }: Named): string[] => looksOf(username ?? '').filter(Boolean)

export const NamesakesContext = createContext<Namesakes>(namesakesOf(nobody, nobody))

/** The namesakes among the people of the open room, and among these. */
export function useNamesakes(also: readonly Named[] = nobody): Namesakes {
  const here = useContext(NamesakesContext)
  return useMemo(() => (also.length === 0 ? here : namesakesOf([...here.people, ...also], here.staff)), [here, also])
}

/** The seq at which somebody last came to have another role: a notice that tells of permissions is one of that. */
export const lastPermissions = ({ notices }: RoomState): number =>
  notices.findLast(({ data }) => 'permissions' in data)?.seq ?? 0

/** The namesakes among those who run a room and those whose messages are shown; the same object as long as these are the same people. */
export function useNamesakesIn(state: RoomState): Namesakes {
  const client = useClient()
  const { ref } = state
  const hasStaff = kindOf(ref).hasModerators && state.status === 'live'
  const changed = lastPermissions(state)
  const staff = useLoaded<readonly Member[]>(`${roomKey(ref)} ${hasStaff} ${changed}`, async () =>
    hasStaff
      ? askedOnce(
          client,
          `staff ${roomKey(ref)} ${changed}`,
          async () => (await client.rooms.staff({ room: ref })).staff,
        )
      : nobody,
  ).value
  const before = useRef<{ key: string; namesakes: Namesakes } | null>(null)
  return useMemo(() => {
    const senders = new Map(state.messages.map(({ sender }) => [sender.id, { id: sender.id, name: sender.name }]))
    const people = [...senders.values()]
    const key = JSON.stringify([people, staff])
    if (before.current?.key !== key) before.current = { key, namesakes: namesakesOf(people, staff ?? nobody) }
    return before.current.namesakes
  }, [state.messages, staff])
}
