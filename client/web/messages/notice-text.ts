import type { RoomEvent } from '#shared/api/messages'
import { isolated, nameOf, timeOf } from '../kit/format.ts'
import { actText } from '../moderation/act-words.ts'

/** An act of a moderator, or a change of the rules, in one line. */
export function noticeText(event: RoomEvent): string | null {
  const { target, diff } = event.data
  const [action, until, reason, role] = ['action', 'until', 'reason', 'role'].map((name) => textIn(event.data, name))
  const actor = nameOf(event.actor.name, event.actor.id)
  const whom = isRecord(target) ? nameOf(textIn(target, 'name'), textIn(target, 'id') ?? '') : 'somebody'
  const why = reason ? ` (${isolated(reason)})` : ''

  if (event.type === 'rules.updated') return `${actor} changed the rules${changesOf(diff)}`
  if (event.type === 'role.changed') return `${actor} made ${whom} ${role ?? 'a member'}`
  if (event.type === 'member.removed') return `${actor} took ${whom} out${why}`
  if (event.type === 'messages.purged') return `${actor} removed the messages of ${whom}${why}`
  if (event.type !== 'moderation.applied' || !action) return null
  return `${actor} ${actText(action)} ${whom}${until ? ` until ${timeOf(until)}` : ''}${why}`
}

function changesOf(diff: unknown): string {
  const names = Object.keys(isRecord(diff) ? diff : {}).map((key) =>
    key.replace(/_(allowed|seconds)$/, '').replaceAll('_', ' '),
  )
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

function textIn(data: Record<string, unknown>, name: string): string | null {
  const value = data[name]
  return typeof value === 'string' ? value : null
}
