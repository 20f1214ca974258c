import { z } from 'zod'
import type { RoomEvent } from '#shared/api/messages'
import { nameOf, timeOf } from '../kit/format.ts'
import { actText } from '../moderation/act-words.ts'

const Data = z.object({
  action: z.string().optional(),
  target: z.object({ id: z.string(), name: z.string() }).nullish(),
  until: z.string().nullish(),
  reason: z.string().nullish(),
  role: z.string().nullish(),
  count: z.number().optional(),
  diff: z.record(z.string(), z.unknown()).optional(),
})

/** An act of a moderator, or a change of the rules, in one line. */
export function noticeText(event: RoomEvent): string | null {
  const read = Data.safeParse(event.data)
  if (!read.success) return null
  const { action, target, until, reason, role, diff } = read.data
  const actor = nameOf(event.actor.name, event.actor.id)
  const whom = target ? nameOf(target.name, target.id) : 'somebody'
  const why = reason ? ` (${reason})` : ''

  if (event.type === 'rules.updated') return `${actor} changed the rules${changesOf(diff)}`
  if (event.type === 'role.changed') return `${actor} made ${whom} ${role ?? 'a member'}`
  if (event.type === 'member.removed') return `${actor} took ${whom} out${why}`
  if (event.type === 'messages.purged') return `${actor} removed the messages of ${whom}${why}`
  if (event.type !== 'moderation.applied' || !action) return null
  return `${actor} ${actText(action)} ${whom}${until ? ` until ${timeOf(until)}` : ''}${why}`
}

function changesOf(diff: Record<string, unknown> | undefined): string {
  const names = Object.keys(diff ?? {}).map((key) => key.replace(/_(allowed|seconds)$/, '').replaceAll('_', ' '))
  return names.length > 0 ? `: ${names.join(', ')}` : ''
}
