import { z } from 'zod'
import { defineEvent, setFact } from '#server/domains/rooms/events/define'
import { roleKey, suspensionKey } from './facts.ts'

const none = z.object({})

export const accountSuspended = defineEvent('account.suspended', {
  body: none,
  changes: ({ target, reason, sender, at }) =>
    target === null ? [] : [setFact(suspensionKey(target), { reason, by: sender, at })],
  data: () => ({}),
  isUnsigned: () => true,
  entry: { action: () => 'suspend' },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

export const accountUnsuspended = defineEvent('account.unsuspended', {
  body: none,
  changes: ({ target }) => (target === null ? [] : [setFact(suspensionKey(target), null)]),
  data: () => ({}),
  isUnsigned: () => true,
  entry: { action: () => 'unsuspend' },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

export const accountRoleChanged = defineEvent('account.role_changed', {
  body: z.object({ role: z.string().optional() }),
  changes: ({ target }, { role = null }) => (target === null ? [] : [setFact(roleKey(target), role)]),
  data: () => ({}),
  isUnsigned: () => true,
  entry: { action: () => 'admin_role', metadata: (_row, { role }) => ({ role: role ?? null }) },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

export const sessionsEnded = defineEvent('sessions.ended', {
  body: z.object({ ids: z.union([z.literal('all'), z.array(z.string()).readonly()]) }),
  data: () => ({}),
  isUnsigned: () => true,
  holdsEverywhere: true,
})
