import type { Notice, RoomEventData } from '#shared/api/room-events'
import { isolated, lengthOf, nameOf, timeOf } from '../kit/format.ts'
import { actText } from '../moderation/act-words.ts'
import { kindOf } from '../rooms/kind.ts'

type Texts = { readonly [T in Notice['type']]: (data: RoomEventData<T>) => string }

/** The part of the sentence after the actor's name. */
const texts: Texts = {
  'rules.updated': ({ diff }) => ageText(diff) ?? `changed the rules${changesOf(diff)}`,
  'role.changed': ({ target, role }) => `made ${whom(target)} ${role}`,
  'member.removed': ({ member, reason }) => `took ${whom(member)} out${why(reason)}`,
  'messages.purged': ({ target, reason }) => `removed the messages of ${whom(target)}${why(reason)}`,
  'moderation.applied': ({ action, target, until, reason }) =>
    `${actText(action)} ${whom(target)}${until ? ` until ${timeOf(until)}` : ''}${why(reason)}`,
  'room.topic_changed': ({ topic }) =>
    topic === null ? 'took the topic away' : `changed the topic: ${isolated(topic)}`,
  'room.archived': () => 'archived the room',
}

/** One line that describes an act of a moderator or a change of the room. */
export const noticeText = (notice: Notice): string => {
  const { type, data, actor } = notice
  return managerText(notice) ?? `${whom(actor)} ${(texts[type] as (told: typeof data) => string)(data)}`
}

/** Who manages the room from here on, and what somebody is who has handed it over; null of every other notice. */
function managerText({ type, data, actor, room }: Notice): string | null {
  if (type !== 'role.changed') return null
  if (data.role === kindOf(room).runBy) return `${whom(data.target)} manages this room now`
  return data.target.id === actor.id ? `${whom(actor)} is ${data.role === 'admin' ? 'an' : 'a'} ${data.role} now` : null
}

const whom = ({ id, name }: { id: string; name: string }) => nameOf(name, id)
const why = (reason: string | null) => (reason ? ` (${isolated(reason)})` : '')

/** A change of the age at which messages are removed, and of nothing else. */
function ageText({ message_ttl: age, ...others }: Record<string, unknown>): string | null {
  if (typeof age !== 'number' || Object.keys(others).length > 0) return null
  return age === 0 ? 'turned the removal of messages off' : `lets messages be removed after ${lengthOf(age)}`
}

function changesOf(diff: Record<string, unknown>): string {
  const names = Object.keys(diff).map((key) => key.replace(/_(allowed|seconds)$/, '').replaceAll('_', ' '))
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}
