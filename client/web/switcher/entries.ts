import type { RoomSummary } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import { linkTo } from '#shared/kit/pages'
import { alpha, roomKey } from '#shared/kit/room-key'
import { useOpenPerson } from '../accounts/person-of-interest.ts'
import { useSession } from '../accounts/session.ts'
import { settingsTabs } from '../accounts/settings-tabs.ts'
import { adminTabs } from '../admin/admin-tabs.ts'
import { useClient, useConnectionState } from '../connection/client.ts'
import { useOpenDm } from '../direct/use-open-dm.ts'
import { useFriends } from '../friends/use-friends.ts'
import { runKey } from '../keys/use-key.ts'
import { isolated, nameOf } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { useLoaded, useSettled } from '../kit/use-loaded.ts'
import { useDeletions } from '../messages/deletions.tsx'
import { namedPages } from '../pages.tsx'
import { lookOf } from '../rooms/kind.ts'
import { slugOf, titleOf } from '../rooms/room-title.ts'
import { goTo, openLink, roomAt, usePages } from '../rooms/route.ts'
import { keyOf, lastOpened, refOf, useRoomList } from '../rooms/use-rooms.ts'
import { sidebarTexts, switcherTexts as t } from '../texts/sidebar.ts'
import { type Findable, ranked } from './ranking.ts'

/** What the switcher opens or does. */
export interface Entry extends Findable {
  key: string
  /** Its kind, and what else tells it from others. */
  detail: string
  face: { room: RoomSummary } | { account: string; picture: string | null } | { icon: IconName }
  /** A new query, or what happens once the switcher is closed. */
  run: string | (() => void)
}

interface EntryGroup {
  title: string | null
  entries: readonly Entry[]
}

const recentAtMost = 6
const firstActs = 3
const shownAtMost = 50
const foundAtMost = 8
const shortestName = 2

/** The entries for a query by rank; of an empty one, what is unread and recent. `status` says why there are fewer or none. */
export function useEntries(query: string): { groups: readonly EntryGroup[]; status: string | null } {
  // `@` asks for people alone, `#` for rooms alone.
  const [, sign = '', rest = ''] = /^\s*([@#]?)(.*)$/su.exec(query) ?? []
  const words = rest.trim()
  const { value: rooms, error } = useRoomList()
  const isOffline = ['offline', 'closed'].includes(useConnectionState())
  const inRooms = useRoomEntries()
  const friends = useFriendEntries()
  const links = useLinkEntries()
  const begun = useFirstGroups(inRooms, links)

  const people = () => [...inRooms.filter(isDirect), ...friends]
  const named = () => inRooms.filter((entry) => !isDirect(entry))
  const near = ranked(words, sign === '@' ? people() : sign === '#' ? named() : [...inRooms, ...friends, ...links])
  const found = useFoundPeople(sign === '#' || isOffline ? '' : words, near)
  const matching = [...near.slice(0, shownAtMost), ...found.people]
  const groups = sign || words ? [{ title: null, entries: matching }] : begun
  const isEmpty = groups.every(({ entries }) => entries.length === 0)
  if (isOffline) return { groups, status: t.offline }
  if (rooms === null) return { groups, status: error ? t.failed : t.loading }
  if (found.isLoading) return { groups, status: isEmpty ? t.searching : null }
  if (found.error) return { groups, status: t.unsearched }
  if (isEmpty && words === '') return { groups, status: t.untyped }
  return { groups, status: isEmpty ? t.none({ query: query.trim() }) : null }
}

const isDirect = ({ face }: Entry): boolean => 'room' in face && face.room.peer !== null
const detailOf = (kind: string, about: string | null): string =>
  about ? t.detail({ kind, about: isolated(about) }) : kind
const handleOf = (username: string | null): string | null => username && `@${username}`

/** The rooms and direct conversations of the account, the newest activity first. */
function useRoomEntries(): readonly Entry[] {
  const { value, archived } = useRoomList()
  const friends = useFriends().value?.friends ?? []
  return [...(value ?? []), ...archived].map((room) => {
    const { isNamed, section } = lookOf(room)
    const friend = friends.find(({ friend_address }) => isSameAccount(friend_address, room.peer?.id ?? ''))
    const names = [friend?.display_name, friend?.username].filter((name) => name != null)
    return {
      key: keyOf(room),
      title: titleOf(room),
      also: isNamed ? [slugOf(room)] : names,
      detail: detailOf(
        room.is_active ? t.kinds[section] : t.kinds.archived,
        room.peer ? handleOf(friend?.username ?? null) : room.topic,
      ),
      face: { room },
      run: () => goTo(refOf(room)),
    }
  })
}

/** Friends without a direct conversation, which is opened by their entry. */
function useFriendEntries(): readonly Entry[] {
  const rooms = useRoomList().value ?? []
  const friends = useFriends().value?.friends ?? []
  const openDm = useOpenDm()
  const attempt = useAttempt()
  return friends
    .filter(({ friend_address }) => !rooms.some(({ peer }) => isSameAccount(peer?.id ?? '', friend_address)))
    .map(({ friend_address: account, nickname, display_name, username, avatar_url }) => ({
      key: account,
      title: nameOf({ nickname, display_name, username }, account),
      also: [display_name, username].filter((name) => name !== null),
      detail: detailOf(t.kinds.friend, handleOf(username)),
      face: { account, picture: avatar_url },
      run: () => attempt(() => openDm(account)),
    }))
}

/** People whom the server finds, without those of other entries. */
function useFoundPeople(words: string, known: readonly Entry[]) {
  const client = useClient()
  const { account } = useSession()
  const open = useOpenPerson()
  const asked = useSettled(words)
  const isAsked = asked.length >= shortestName
  const { value, error, isLoading } = useLoaded(asked, async () => {
    if (!isAsked) return []
    return (await client.rooms.members({ room: alpha, search: asked, limit: foundAtMost })).members
  })
  const isKnown = (id: string) =>
    isSameAccount(id, account) ||
    known.some(({ face }) =>
      isSameAccount(id, 'room' in face ? (face.room.peer?.id ?? '') : 'account' in face ? face.account : ''),
    )
  const people = (value ?? [])
    .filter(({ user_address }) => !isKnown(user_address))
    .map(({ user_address: id, name, username, avatar }): Entry => {
      const title = nameOf(name, id)
      return {
        key: id,
        title,
        also: username === null ? [] : [username],
        detail: detailOf(t.kinds.person, handleOf(username)),
        face: { account: id, picture: avatar },
        run: () => open({ id, name: title, role: null, live: null }),
      }
    })
  if (words.length < shortestName) return { people: [], error: null, isLoading: false }
  if (words === asked) return { people, error, isLoading }
  // People of the query before are shown if they still fit.
  return { people: ranked(words, people), error: null, isLoading: true }
}

/** Actions, pages, and sections of the settings. */
function useLinkEntries(): readonly Entry[] {
  const { status, user, signOut } = useSession()
  const { flush } = useDeletions()
  const attempt = useAttempt()
  const act = (key: string, title: string, icon: IconName, run: Entry['run']): Entry => ({
    key,
    title,
    detail: t.kinds.act,
    face: { icon },
    run,
  })
  const newRoom = linkTo('roomNew')
  const acts = [
    act('message', t.acts.message, 'message', '@'),
    act(newRoom, sidebarTexts.create, 'plus', () => openLink(newRoom)),
    act('keys', t.acts.keys, 'keyboard', () => runKey('list')),
  ]
  const inAdministration = ({ name, title }: (typeof adminTabs)[number]) => ({
    title: t.setting({ settings: sidebarTexts.administration, section: title }),
    link: linkTo('admin', { part: name }),
  })
  const pages = [...namedPages, ...(user.role === 'user' ? [] : adminTabs.map(inAdministration))]
    .filter(({ link }) => link !== newRoom)
    .map(
      ({ title, link }): Entry => ({
        key: link,
        title,
        detail: t.kinds.page,
        face: { icon: 'grid' },
        run: () => openLink(link),
      }),
    )
  const settings = settingsTabs(status).map(({ name, title, soughtAs }): Entry => {
    const link = linkTo('settings', { section: name })
    const face = { icon: 'sliders' } as const
    const also = [t.kinds.settings]
    return { key: link, title, also, soughtAs, detail: t.kinds.settings, face, run: () => openLink(link) }
  })
  const leave = act('sign-out', t.acts.signOut, 'leave', () => attempt(() => flush().then(signOut)))
  return [...acts, ...pages, ...settings, leave]
}

/** Before anything is typed: unread rooms, then those that were opened or had a message last, then the first actions. */
function useFirstGroups(rooms: readonly Entry[], links: readonly Entry[]): readonly EntryGroup[] {
  const client = useClient()
  const { room: open } = roomAt(usePages().behind)
  const others = rooms.filter(
    ({ key, face }) => (open === null || key !== roomKey(open)) && 'room' in face && face.room.is_active,
  )
  const isUnread = ({ face }: Entry) => 'room' in face && face.room.unread > 0 && !face.room.is_muted
  const mentionsOf = ({ face }: Entry) => ('room' in face ? face.room.mentions : 0)
  const byMentions = (one: Entry, other: Entry) => Number(mentionsOf(other) > 0) - Number(mentionsOf(one) > 0)
  const opened = lastOpened(client)
  const placeOf = ({ key }: Entry) => (opened.includes(key) ? opened.indexOf(key) : opened.length)
  const recent = others.filter((entry) => !isUnread(entry)).toSorted((one, other) => placeOf(one) - placeOf(other))
  return [
    { title: t.groups.unread, entries: others.filter(isUnread).toSorted(byMentions) },
    { title: t.groups.recent, entries: recent.slice(0, recentAtMost) },
    { title: t.groups.acts, entries: links.slice(0, firstActs) },
  ].filter(({ entries }) => entries.length > 0)
}
