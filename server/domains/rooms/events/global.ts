import { z } from 'zod'
import { roleKey, suspensionKey } from '#server/domains/accounts/facts'
import { absolute, fields } from './changes.ts'
import { defineEvent } from './define.ts'

const none = z.object({})

export const accountSuspended = defineEvent('account.suspended', {
  body: none,
  changes: ({ target, reason, sender, at }) =>
    target === null ? [] : [absolute(suspensionKey(target), { reason, by: sender, at })],
  data: () => ({}),
  isUnsigned: () => true,
  entry: { action: () => 'suspend' },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

export const accountUnsuspended = defineEvent('account.unsuspended', {
  body: none,
  changes: ({ target }) => (target === null ? [] : [absolute(suspensionKey(target), null)]),
  data: () => ({}),
  isUnsigned: () => true,
  entry: { action: () => 'unsuspend' },
  holdsEverywhere: true,
  changesRights: 'of the target',
})

export const accountRoleChanged = defineEvent('account.role_changed', {
  body: z.object({ role: z.string().optional() }),
  changes: ({ target }, { role = null }) => (target === null ? [] : [absolute(roleKey(target), role)]),
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

/** Something began or changed between two people. */
export const friendsChanged = defineEvent('friends.changed', {
  body: z.object({ pair: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})

/** What was between two people ended; what they called each other is gone with it. */
export const friendsEnded = defineEvent('friends.ended', {
  body: z.object({ pair: fields }),
  data: () => ({}),
  isUnsigned: () => true,
})

export const blocksChanged = defineEvent('blocks.changed', {
  body: z.object({ other: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})

export const queueChanged = defineEvent('queue.changed', {
  body: z.object({ item: z.string() }),
  data: () => ({}),
  isUnsigned: () => true,
})
