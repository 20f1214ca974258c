import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Link, maybe, Time } from '#shared/kit/primitives'

/** An archive is there for so many days. */
export const archiveDays = 7

export const DataExport = z.object({
  id: z.string(),
  state: z.enum(['working', 'ready', 'failed']),
  include_media: z.boolean(),
  /** How many of its parts are written, and how many it has. */
  done: z.number().int(),
  total: z.number().int(),
  /** The size of the archive; null until it is ready. */
  bytes: z.number().int().nullable(),
  created_at: Time,
  finished_at: Time.nullable(),
  /** When the archive is removed; null until it is ready. */
  expires_at: Time.nullable(),
})
export type DataExport = z.infer<typeof DataExport>

const ofOwner = {
  access: 'user',
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
    summary: `How far the archive of the caller is; null where there is none. \`url\` is there once it is ready, for a caller who has just signed in. The archive is there for ${archiveDays} days.`,
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
}

export const dataExportChanged = event('/notifications own-data:changed', {
  summary: 'The archive that you have asked for has come further, is ready, or could not be written.',
  audience: 'account',
  payload: z.object({ export: DataExport }),
})
export const ownDataEvents = { dataExportChanged }
