import type { Gemoji } from 'gemoji'
import { useEffect, useMemo, useState } from 'react'
import type { Mention } from '#shared/api/rooms/message'
import type { Member } from '#shared/api/rooms/room'
import { isSameAccount } from '#shared/kit/accounts'
import { nameOf } from '#shared/kit/person-name'
import { accountOfAgent, isAgent } from '#shared/kit/room-agents'
import { useClient } from '../connection/client.ts'
import { isolated } from '../kit/format.ts'
import type { IconName } from '../kit/icon.tsx'
import { useLoaded, useSettled } from '../kit/use-loaded.ts'
import { lookOf } from '../rooms/kind.ts'
import { personOf, useNamesakes } from '../rooms/namesakes.ts'
import type { RoomAgent } from '../rooms/room-agents.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { slugOf, titleOf } from '../rooms/room-title.ts'
import { useRoomList } from '../rooms/use-rooms.ts'
import { messageTexts as t } from '../texts/messages.ts'
import { valueText, valueTexts } from '../texts/values.ts'

const shown = 6
const deadlineMilliseconds = 2_000

/** One suggestion that completes the word before the cursor. */
export interface Choice {
  key: string
  title: string
  note: string | null
  sign: { account: string } | { agent: string } | { emoji: string } | { icon: IconName }
  /** The text that replaces the word. */
  words: string
  /** Whom this text mentions. */
  names?: Pick<Mention, 'kind' | 'id'>
  /** The command that runs instead of inserting text. */
  act?: () => void
}

export interface Word {
  sign: string
  rest: string
}

/** A text, and the position of the cursor. */
export interface Written {
  text: string
  cursor: number
}

/** The commands that can be typed after a slash. */
export type Commands = readonly { name: string; title: string; icon: IconName; act: () => void }[]

/** The suggestions for a word: agents and people after @, rooms after #, emoji after : and commands after / */
export function useChoices(
  word: Word | null,
  agents: readonly RoomAgent[],
  canMention: boolean,
  commands: Commands,
): readonly Choice[] {
  const members = useMembers(canMention && word?.sign === '@', word?.rest ?? '')
  const rooms = useRoomList().value ?? []
  const emoji = useEmoji(word?.sign === ':')
  const { markOf, isLikeStaff, staff } = useNamesakes(useMemo(() => members.map(personOf), [members]))
  const noteOf = (member: Member) => {
    const person = personOf(member)
    const role = staff.find(({ user_address }) => isSameAccount(user_address, member.user_address))?.role
    const handle = member.username ? `@${member.username}` : markOf(person)
    return (
      [role && valueText(valueTexts.roles, role), isLikeStaff(person) ? t.row.notModerator : null, handle]
        .filter(Boolean)
        .join(' · ') || null
    )
  }
  if (!word) return []
  const { sign, rest } = word
  if (sign === '@' && canMention)
    return [
      ...agents.filter(({ name }) => fits(rest, name)).map(ofAgent),
      ...members
        .filter((one) => !isAgent(one.user_address) && fits(rest, nameIn(one), one.username))
        .map((one) => ofMember(one, noteOf(one))),
    ].slice(0, shown)
  if (sign === '#') {
    const open = rooms.filter((one) => lookOf(one).isNamed && fits(rest, titleOf(one), slugOf(one)))
    return open.slice(0, shown).map((room) => ({
      key: room.id,
      title: titleOf(room),
      note: null,
      sign: { icon: 'hash' },
      words: `#${slugOf(room)} `,
    }))
  }
  if (sign === ':') return rest.length > 1 ? emojiFor(emoji, rest).slice(0, shown).map(ofEmoji) : []
  if (sign !== '/') return []
  return commands
    .filter(({ name }) => name.startsWith(rest))
    .map(({ name, title, icon, act }) => ({
      key: name,
      title: `/${name}`,
      note: title,
      sign: { icon },
      words: '',
      act,
    }))
}

/** Emoji that match the word: exact names first, then names and tags that begin with it. */
export function emojiFor(all: readonly Gemoji[], word: string): readonly Gemoji[] {
  const wanted = word.toLowerCase()
  const isExact = ({ names }: Gemoji) => Number(names.includes(wanted))
  const named = all
    .filter(({ names }) => names.some((name) => name.startsWith(wanted)))
    .toSorted((one, other) => isExact(other) - isExact(one))
  const others = all.filter(
    (one) => !named.includes(one) && [...one.names, ...one.tags, one.description].some((text) => text.includes(wanted)),
  )
  return [...named, ...others]
}

const nameIn = ({ name, user_address }: Member) => nameOf(name, user_address)
const ofMember = (member: Member, note: string | null): Choice => ({
  key: member.user_address,
  title: isolated(nameIn(member)),
  note,
  sign: { account: member.user_address },
  words: `@${nameIn(member)} `,
  names: { kind: 'user', id: member.user_address },
})
const ofAgent = ({ id, name, avatar_emoji }: RoomAgent): Choice => ({
  key: accountOfAgent(id),
  title: isolated(name),
  note: t.row.agent,
  sign: { agent: avatar_emoji },
  words: `@${name} `,
  names: { kind: 'agent', id },
})
const ofEmoji = ({ emoji, names, description }: Gemoji): Choice => ({
  key: emoji,
  title: `:${names[0]}:`,
  note: description,
  sign: { emoji },
  words: `${emoji} `,
})

const fits = (word: string, ...names: (string | null)[]): boolean =>
  names.some((name) => [name, ...(name?.split(/[\s-]+/) ?? [])].some((part) => part?.toLowerCase().startsWith(word)))

/** The newest members, and in a large room those whom the server finds by the word. */
function useMembers(isWanted: boolean, word: string): readonly Member[] {
  const client = useClient()
  const { live } = useOpenRoom()
  const [newest, setNewest] = useState<{ members: readonly Member[]; hasMore: boolean }>(nobody)
  useEffect(() => {
    if (!isWanted) return
    client.rooms.members({ room: live.ref, limit: 200 }).then(setNewest, () => setNewest(nobody))
  }, [isWanted, client, live])
  const search = useSettled(isWanted && newest.hasMore ? word : '')
  const isSought = search.length > 1
  const found = useLoaded(search, async () =>
    isSought ? (await client.rooms.members({ room: live.ref, search, limit: shown })).members : [],
  ).value
  return useMemo(() => {
    const isKnown = ({ user_address }: Member) =>
      newest.members.some((one) => isSameAccount(one.user_address, user_address))
    return [...newest.members, ...(found ?? []).filter((one) => !isKnown(one))]
  }, [newest, found])
}

const nobody = { members: [], hasMore: false }

let known: readonly Gemoji[] = []

/** If the list cannot be loaded, no emoji is suggested or replaced by name. */
const loadEmoji = () =>
  import('gemoji').then(
    ({ gemoji }) => {
      known = gemoji
    },
    () => {},
  )

function useEmoji(isWanted: boolean): readonly Gemoji[] {
  const [emoji, setEmoji] = useState(known)
  useEffect(() => {
    if (isWanted) void loadEmoji().then(() => setEmoji(known))
  }, [isWanted])
  return emoji
}

const emojiName = /(?<![\w:]):([a-z0-9_+-]+):/g

/** Resolves once the list of emoji is loaded, or after a deadline; at once for a text that names none. */
export async function knowEmojiOf(text: string): Promise<void> {
  const isDue = known.length === 0 && text.search(emojiName) >= 0
  if (isDue) await Promise.race([loadEmoji(), new Promise((resolve) => setTimeout(resolve, deadlineMilliseconds))])
}

/** Replaces names between colons by their emoji, except in code or within a word. */
export function withEmoji({ text, cursor }: Written): Written {
  let place = cursor
  const shown = text.replace(emojiName, (whole: string, name: string, at: number) => {
    const emoji = known.find(({ names }) => names.includes(name))?.emoji
    const isCode = text.slice(0, at).split('`').length % 2 === 0
    if (!emoji || isCode) return whole
    if (cursor > at) place += emoji.length - Math.min(whole.length, cursor - at)
    return emoji
  })
  return { text: shown, cursor: place }
}

/** Inserts words at the cursor, in place of the last `replaced` characters before it. */
export function inserted({ text, cursor }: Written, words: string, replaced = 0): Written {
  const before = `${text.slice(0, cursor - replaced)}${words}`
  return { text: `${before}${text.slice(cursor)}`, cursor: before.length }
}
