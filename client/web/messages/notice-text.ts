import type { RoomEvent } from '#shared/api/room-events'
import { isolated, nameOf, timeOf } from '../kit/format.ts'
import { actText } from '../moderation/act-words.ts'

/** An act of a moderator, or a change of the rules, in one line. */
export function noticeText(event: RoomEvent): string | null {
  const actor = nameOf(event.actor.name, event.actor.id)
  switch (event.type) {
    case 'rules.updated':
      return `${actor} changed the rules${changesOf(event.data.diff)}`
    case 'role.changed':
      return `${actor} made ${whom(event.data.target)} ${event.data.role}`
    case 'member.removed':
      return `${actor} took ${whom(event.data.member)} out${why(event.data)}`
    case 'messages.purged':
      return `${actor} removed the messages of ${whom(event.data.target)}${why(event.data)}`
    case 'moderation.applied': {
      const { action, target, until } = event.data
      return `${actor} ${actText(action)} ${whom(target)}${until ? ` until ${timeOf(until)}` : ''}${why(event.data)}`
    }
    default:
      return null
  }
}

const whom = ({ id, name }: { id: string; name: string }) => nameOf(name, id)
const why = ({ reason }: { reason: string | null }) => (reason ? ` (${isolated(reason)})` : '')

function changesOf(diff: Record<string, unknown>): string {
  const names = Object.keys(diff).map((key) => key.replace(/_(allowed|seconds)$/, '').replaceAll('_', ' '))
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}
