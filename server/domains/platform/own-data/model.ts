import { Schema } from 'mongoose'
import { later, moment, optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { Lease } from '#server/kernel/work/lease'
import type { DataExport, MessagesOfErased } from '#shared/api/platform/own-data'

/** The last export of an account. */
export interface StoredExport {
  /** The account. */
  _id: string
  export_id: string
  state: DataExport['state']
  include_media: boolean
  done: number
  total: number
  /** The estimate of its end; absent in rows of older versions. */
  ready_at?: Date | null
  /** The random key of the archive in the storage; null without one. */
  key: string | null
  bytes: number | null
  created_at: Date
  finished_at: Date | null
  expires_at: Date | null
}

export const DataExports = defineModel<StoredExport>(
  'DataExports',
  {
    shares: [{ owner: '_id', becomes: 'erase' }],
    archive: { never: 'It is about the archive itself.' },
    secret: ['key'],
  },
  new Schema<StoredExport>(
    {
      _id: required,
      export_id: required,
      state: required,
      include_media: { type: Boolean, required: true },
      done: { type: Number, required: true },
      total: { type: Number, required: true },
      ready_at: { type: Date },
      key: optional,
      bytes: { type: Number, default: null },
      created_at: moment,
      finished_at: later,
      expires_at: later,
    },
    { collection: 'data_exports', versionKey: false },
  ),
)

/** An erasure that is planned, under way, or lately done, so that each node forgets what it has in memory. */
export interface StoredErasure {
  /** As `erasure_id` of the account. */
  _id: string
  /** The run that works at it, which has it until `due_at`; before, the time at which it begins. */
  run: string | null
  due_at: Date
  /** The account and its alias, sealed. */
  sealed: string
  /** So many rows were removed, changed and kept, by their models. */
  counts: { [model: string]: number }
  /** Since when all nodes are to forget the account; null until the store has. */
  forgotten_at: Date | null
  /** The nodes on which that is done. Absent in rows of older versions. */
  forgotten_on?: string[]
  finished_at: Date | null
  expires_at?: Date
}

export const Erasures = defineModel<StoredErasure>(
  'Erasures',
  {
    shares: [{ owner: null, becomes: 'keep', reason: 'Each node forgets the account by it, sealed.', days: 1 }],
    archive: { never: 'It is about the erasure itself.' },
    secret: ['sealed'],
  },
  new Schema<StoredErasure>(
    {
      _id: required,
      run: optional,
      due_at: moment,
      sealed: required,
      counts: { type: Schema.Types.Mixed, default: {} },
      forgotten_at: later,
      forgotten_on: { type: [String], default: undefined },
      finished_at: later,
      expires_at: { type: Date },
    },
    { collection: 'erasures', versionKey: false, minimize: false },
  )
    .index({ forgotten_at: 1, due_at: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

/** Erasures that are due are worked at together, by one run at a time. */
export const erasureLease: Lease<StoredErasure> = {
  model: Erasures,
  holder: 'run',
  held_until: 'due_at',
  milliseconds: 15_000,
}

/** An account that was erased. A restored account is found by it, and erased again. */
export interface ErasedAccountHash {
  /** The hash of the account, with the salt. */
  _id: string
  salt: string
  at: Date
  messages: MessagesOfErased
}

export const ErasedAccountHashes = defineModel<ErasedAccountHash>(
  'ErasedAccountHashes',
  {
    shares: [
      {
        owner: null,
        becomes: 'keep',
        reason: 'A restored backup brings nobody back: it is a hash.',
        days: 'permanently',
      },
    ],
    archive: { never: 'It is a hash that names nobody.' },
    secret: ['salt'],
  },
  new Schema<ErasedAccountHash>(
    { _id: required, salt: required, at: moment, messages: required },
    { collection: 'erased_accounts', versionKey: false },
  ),
)
