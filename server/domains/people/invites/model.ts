import { Schema } from 'mongoose'
import { required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'

export interface StoredInvite {
  _id: string
  code: string
  owner_address: string
  /** The slot of its owner; absent if an admin made it for many. */
  place?: number
  by_admin?: true
  /** 0 is unlimited; absent for one. */
  max_uses?: number
  expires_at?: Date
  note?: string
  is_active: boolean
  created_at: Date
}

/** The use of an invite by an account. This row alone decides the inviter and the code. */
export interface StoredUse {
  /** The invited account. */
  _id: string
  invite_id: string
  code: string
  owner_address: string
  by_admin?: true
  /** The slot among the uses of its code; absent if the code is unlimited. */
  place?: number
  used_at: Date
  /** Are all consequences done? */
  settled: boolean
}

export const Invites = defineModel<StoredInvite>(
  'Invites',
  { shares: [{ owner: 'owner_address', becomes: 'erase' }], archive: 'invites' },
  new Schema<StoredInvite>(
    {
      _id: required,
      code: required,
      owner_address: required,
      place: { type: Number },
      by_admin: { type: Boolean },
      max_uses: { type: Number },
      expires_at: { type: Date },
      note: { type: String },
      is_active: { type: Boolean, required: true },
      created_at: { type: Date, required: true },
    },
    { collection: 'invites', versionKey: false },
  )
    .index({ code: 1 }, { unique: true })
    .index({ owner_address: 1 })
    .index({ by_admin: 1, _id: -1 }, { partialFilterExpression: { by_admin: true } })
    .index({ owner_address: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } }),
)

export const InviteUses = defineModel<StoredUse>(
  'InviteUses',
  {
    shares: [
      { owner: '_id', becomes: 'erase', hides: ['owner_address'] },
      { owner: 'owner_address', becomes: 'unlink' },
    ],
    archive: 'invites',
    stays: ['code'],
  },
  new Schema<StoredUse>(
    {
      _id: required,
      invite_id: required,
      code: required,
      owner_address: required,
      by_admin: { type: Boolean },
      place: { type: Number },
      used_at: { type: Date, required: true },
      settled: { type: Boolean, required: true },
    },
    { collection: 'invite_uses', versionKey: false },
  )
    .index({ invite_id: 1, place: 1 }, { unique: true, partialFilterExpression: { place: { $exists: true } } })
    .index({ invite_id: 1, used_at: -1 })
    .index({ owner_address: 1 })
    .index({ used_at: 1 }),
)
