import { Rooms } from '#server/domains/rooms/room-state/model'
import type { Node } from '#server/kernel/context'
import { roomKey } from '#shared/kit/primitives'
import { foundedBy } from '#shared/kit/room-kinds'
import { ensureOfficial } from './alpha.ts'
import { uniqueFormOf } from './names.ts'

type Channel = readonly [name: string, emoji: string, category: string, description: string]

const channels: readonly Channel[] = [
  ['General', '💬', 'general', 'Whatever has no place of its own.'],
  ['Introductions', '👋', 'community', 'Say who you are and what brings you here.'],
  ['Questions', '🛟', 'community', 'Ask how things work here, and answer those who do.'],
  ['Technology', '💻', 'tech', 'What people build, and what they build it with.'],
  ['Science', '🔬', 'science', 'What was found out, and how.'],
  ['Crypto', '⛓️', 'crypto', 'Chains and what is made on them. Nobody here asks for your keys.'],
  ['Finance', '📈', 'finance', 'Money, and what becomes of it. No advice is given here.'],
  ['Art', '🎨', 'art', 'Show what you made.'],
  ['Music', '🎵', 'music', 'What you hear, play and sing.'],
  ['Film and books', '🎬', 'entertainment', 'What you watch and read, without the end of it.'],
  ['Games', '🎮', 'gaming', 'What you play, and with whom.'],
  ['Sports', '⚽', 'sports', 'On the field and beside it.'],
  ['Food and travel', '🌍', 'lifestyle', 'Where you were, and what you ate there.'],
  ['Languages', '🗣️', 'languages', 'Learn one from another.'],
  ['Cities', '🏙️', 'cities', 'Where you live, and what goes on there.'],
  ['Events', '🎟️', 'events', 'What happens when, and who comes along.'],
]

const type = foundedBy('createChannel')

/** An id that no clock gives before the year 9000. */
const idOf = (place: number) => `df000000-0000-7000-8000-${String(place).padStart(12, '0')}`

const officialChannels = channels.map(([name, emoji, category, description], place) => ({
  ...{ type, id: idOf(place + 1) },
  ...{ name, emoji, category, description, slug: name.toLowerCase().replaceAll(' ', '-') },
  unique_name: uniqueFormOf(name),
}))

/** The room of admins and global moderators. It reserves no name or slug, because others must not know of it. */
const staffChannel = {
  ...{ type, id: idOf(1_000), name: 'Team', emoji: '🛡️', category: 'general', access_level: 'staff' as const },
  description: 'For admins and those who moderate everywhere. Nobody else sees it.',
}

/** Creates the staff channel once; an archived one stays archived. */
export const ensureStaffChannel = (node: Node): Promise<void> =>
  ensureOfficial(node, roomKey(staffChannel), staffChannel)

/** Creates the official channels of a new installation, if nobody has founded one. Existing channels stay unchanged. */
export async function ensureOfficialChannels(node: Node): Promise<void> {
  const isBegun = await Rooms.exists({ type, id: { $nin: [staffChannel, ...officialChannels].map(({ id }) => id) } })
  if (!isBegun) for (const channel of officialChannels) await ensureOfficial(node, roomKey(channel), channel)
}
