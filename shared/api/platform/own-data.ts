import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Address, Link, maybe, Time, text } from '#shared/kit/primitives'

/** An archive is there for so many days. */
export const archiveDays = 7
/** The next archive can be requested so long after the last. */
export const exportIntervalMilliseconds = 86_400_000

export const DataExport = z.object({
  id: z.string(),
  state: z.enum(['working', 'ready', 'failed']),
  include_media: z.boolean(),
  /** How many of its parts are written, and how many it has. */
  done: z.number().int(),
  total: z.number().int(),
  /** When it will be ready, by its pace so far. Null before a second of work, and once it is done. */
  ready_at: Time.nullable(),
  /** The size of the archive; null until it is ready. */
  bytes: z.number().int().nullable(),
  created_at: Time,
  finished_at: Time.nullable(),
  /** When the archive is removed; null until it is ready. */
  expires_at: Time.nullable(),
})
export type DataExport = z.infer<typeof DataExport>

/** What becomes of the messages of an account: they stay, by "Deleted user", or are removed. */
export const MessagesOfErased = z.enum(['unlink', 'erase'])
export type MessagesOfErased = z.infer<typeof MessagesOfErased>

const whatEnds = z.object({
  rooms: z.number().int(),
  agents: z.number().int(),
  streams: z.number().int(),
  calls: z.number().int(),
  webhooks: z.number().int(),
  payments: z.number().int(),
})

const ofOwner = {
  access: 'user',
  limit: 'general',
  cost: 'cheap',
} as const

const ofAdmin = {
  access: 'admin',
  limit: 'general',
  cost: 'cheap',
} as const

/** What an account has here, in an archive for its owner. */
export const ownData = {
  beginExport: operation({
    summary:
      'Begin to write an archive of all that the caller has here: a page to read, and JSON by domain; with the files that they have uploaded, where they ask for them. One a day; while one is being written, that one is answered.',
    http: 'POST /api/account/export',
    socket: '/notifications own-data:export',
    ...ofOwner,
    repeat: 'harmless',
    whileSuspended: 'protects',
    audit: true,
    input: z.object({ include_media: maybe(z.boolean()) }),
    output: z.object({ export: DataExport }),
  }),
  readExport: operation({
    summary: `How far the archive of the caller is; null where there is none. \`ready_at\` is an estimate. \`url\` is there once it is ready, for a caller who has just signed in. The archive is there for ${archiveDays} days.`,
    http: 'GET /api/account/export',
    socket: '/notifications own-data:read',
    ...ofOwner,
    input: z.object({}),
    output: z.object({ export: DataExport.nullable(), url: Link.nullable() }),
  }),
  exportUrl: operation({
    summary: 'The address of the archive, which is good for ten minutes.',
    http: 'POST /api/account/export/url',
    ...ofOwner,
    repeat: 'harmless',
    whileSuspended: 'protects',
    freshProof: { unless: [] },
    audit: true,
    input: z.object({}),
    output: z.object({ url: Link }),
    errors: ['NOT_FOUND'],
  }),
  readErasure: operation({
    summary:
      'What deleting the account of the caller would end, by count: rooms that it runs, which are handed over or archived, agents, streams, calls to come, webhooks, and payments, which are kept. `erased_at` says when it is to be deleted, and `kept_at` when a sign-in last took that back.',
    http: 'GET /api/account/erasure',
    socket: '/notifications own-data:erasure',
    ...ofOwner,
    input: z.object({}),
    output: z.object({
      erased_at: Time.nullable(),
      kept_at: Time.nullable(),
      grace_days: z.number().int(),
      counts: whatEnds,
    }),
  }),
  erase: operation({
    summary:
      'Delete the account of the caller, with all that is theirs, at `erased_at`. Until then nobody finds it, and a sign-in keeps it. All its sessions end at once. `confirm` is its name or its address. `messages`: they stay without the person, or are removed.',
    http: 'DELETE /api/account',
    socket: '/notifications own-data:erase',
    ...ofOwner,
    cost: { rooms: 50 },
    whileSuspended: 'withdraws',
    freshProof: { unless: [] },
    audit: true,
    input: z.object({ messages: MessagesOfErased, confirm: text(200) }),
    output: z.object({ erased_at: Time }),
    errors: ['CONFLICT'],
  }),
  restore: operation({
    summary:
      'Keep an account that is to be deleted. Each sign-in does the same, so that this changes nothing after one. `kept_at` says when the deletion was last taken back.',
    http: 'POST /api/account/restore',
    socket: '/notifications own-data:restore',
    ...ofOwner,
    repeat: 'harmless',
    whileSuspended: 'protects',
    audit: true,
    input: z.object({}),
    output: z.object({ erased_at: Time.nullable(), kept_at: Time.nullable() }),
  }),
  exportUser: operation({
    summary:
      'Begin to write the archive of another account, whose owner has asked an admin for it. The owner alone can download it.',
    http: 'POST /api/admin/users/:address/export',
    socket: '/notifications own-data:export-user',
    ...ofAdmin,
    repeat: 'harmless',
    freshProof: { unless: [] },
    audit: 'address',
    input: z.object({ address: Address, include_media: maybe(z.boolean()) }),
    output: z.object({ export: DataExport }),
    errors: ['USER_NOT_FOUND'],
  }),
  eraseUser: operation({
    summary:
      'Delete the account of another, with all that is theirs, at once. The reason is in the audit log. Admins are deleted by super admins alone.',
    http: 'DELETE /api/admin/users/:address',
    socket: '/notifications own-data:erase-user',
    ...ofAdmin,
    freshProof: { unless: [] },
    audit: 'address',
    input: z.object({ address: Address, reason: text(500).min(1), messages: MessagesOfErased.default('unlink') }),
    output: z.object({ erased_at: Time }),
    errors: ['USER_NOT_FOUND', 'CONFLICT'],
  }),
}

export const dataExportChanged = event('/notifications own-data:changed', {
  summary: 'The archive that you have asked for has come further, is ready, or could not be written.',
  audience: 'account',
  payload: z.object({ export: DataExport }),
})
export const ownDataEvents = { dataExportChanged }
