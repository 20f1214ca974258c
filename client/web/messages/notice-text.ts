import type { Notice, RoomEventData } from '#shared/api/rooms/room-events'
import { isolated, lengthOf, listOf, nameOf, timeOf } from '../kit/format.ts'
import { actText } from '../moderation/acts.ts'
import { kindOf } from '../rooms/kind.ts'
import { messageTexts } from '../texts/messages.ts'
import { valueText, valueTexts } from '../texts/values.ts'

const t = messageTexts.notices

type Texts = { readonly [T in Notice['type']]: (who: string, data: RoomEventData<T>) => string }

const texts: Texts = {
  'rules.updated': (who, { diff }) => {
    const names = changesOf(diff)
    return ageText(who, diff) ?? (names ? t.rulesOf({ who, names }) : t.rules({ who }))
  },
  'role.changed': (who, { target, role }) => t.role({ who, target: nameIn(target), role }),
  'member.removed': (who, { member, reason }) => because(t.removed({ who, target: nameIn(member) }), reason),
  'messages.purged': (who, { target, reason }) => because(t.purged({ who, target: nameIn(target) }), reason),
  'moderation.applied': (who, { action, target, until, reason }) => {
    const act = { who, act: actText(action), target: nameIn(target) }
    return because(until ? t.actUntil({ ...act, time: timeOf(until) }) : t.act(act), reason)
  },
  'room.topic_changed': (who, { topic }) =>
    topic === null ? t.noTopic({ who }) : t.topic({ who, topic: isolated(topic) }),
  'room.archived': (who) => t.archived({ who }),
}

/** One line that describes an act of a moderator or a change of the room. */
export const noticeText = (notice: Notice): string => {
  const { type, data, actor } = notice
  return managerText(notice) ?? (texts[type] as (who: string, told: typeof data) => string)(nameIn(actor), data)
}

/** Who manages the room from here on, and what somebody is who has handed it over; null of every other notice. */
function managerText({ type, data, actor, room }: Notice): string | null {
  if (type !== 'role.changed') return null
  if (data.role === kindOf(room).runBy) return t.manages({ target: nameIn(data.target) })
  return data.target.id === actor.id ? t.ownRole({ who: nameIn(actor), role: data.role }) : null
}

const nameIn = ({ id, name }: { id: string; name: string }) => nameOf(name, id)
const because = (text: string, reason: string | null) => (reason ? t.because({ text, reason: isolated(reason) }) : text)

/** A change of the age at which messages are removed, and of nothing else. */
function ageText(who: string, { message_ttl: age, ...others }: Record<string, unknown>): string | null {
  if (typeof age !== 'number' || Object.keys(others).length > 0) return null
  return age === 0 ? t.noAge({ who }) : t.age({ who, time: lengthOf(age) })
}

const changesOf = (diff: Record<string, unknown>): string =>
  listOf(Object.keys(diff).map((rule) => valueText(valueTexts.rules, rule)))
