import mongoose, { Schema } from 'mongoose'
import type { Role } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import type { Social } from '#shared/api/accounts'

export interface Account {
  /** The account id: a wallet address, or an id of another sign-in method. */
  _id: string
  user_id: string
  wallet_type: string | null
  chain: string | null
  /** Absent where there is none, so that the unique index passes over it. */
  username?: string
  display_name: string | null
  avatar_url: string | null
  /** Shown instead of the other while `use_custom_avatar` is on. */
  custom_avatar_url: string | null
  use_custom_avatar: boolean
  bio: string | null
  socials: Social[]
  /** Whether the account has a page that everybody may open. */
  public_landing_enabled: boolean
  /** Stored once, in lower case, with the profile and the passkey it follows from; absent before. */
  smart_wallet_address?: string
  smart_wallet_profile?: string
  /** Of a passkey's account; a wallet's follows from the account id. */
  smart_wallet_credential_id?: string
  smart_wallet_x?: string
  smart_wallet_y?: string
  /** In lower case, and verified; absent where there is none. */
  email?: string
  email_verified: boolean
  email_verified_at: Date | null
  email_updates_opt_in: boolean
  points: number
  /** What points were given for, each once. */
  points_claimed: string[]
  role: Role
  /** Seq of the global act the role follows from; 0 where nobody ever decided on it. */
  role_seq: number
  is_banned: boolean
  ban_reason: string | null
  banned_by: string | null
  banned_at: number | null
  /** Seq of the global act the suspension follows from. */
  banned_seq: number
  first_login?: Date
  last_login: Date | null
  login_count: number
  last_active_at: Date | null
  created_at: Date
  updated_at: Date
}

const optional = { type: String, default: null }
const now = () => new Date()

export const Accounts = mongoose.model<Account>(
  'Accounts',
  new Schema<Account>(
    {
      _id: { type: String, required: true },
      user_id: { type: String, required: true, default: newId },
      wallet_type: optional,
      chain: optional,
      username: { type: String },
      display_name: optional,
      avatar_url: optional,
      custom_avatar_url: optional,
      use_custom_avatar: { type: Boolean, required: true, default: false },
      bio: optional,
      socials: { type: [{ _id: false, platform: String, handle: String }], default: [] },
      public_landing_enabled: { type: Boolean, required: true, default: false },
      smart_wallet_address: { type: String },
      smart_wallet_profile: { type: String },
      smart_wallet_credential_id: { type: String },
      smart_wallet_x: { type: String },
      smart_wallet_y: { type: String },
      email: { type: String },
      email_verified: { type: Boolean, required: true, default: false },
      email_verified_at: { type: Date, default: null },
      email_updates_opt_in: { type: Boolean, required: true, default: false },
      points: { type: Number, required: true, default: 0 },
      points_claimed: { type: [String], default: () => [] },
      role: { type: String, required: true, default: 'user' },
      role_seq: { type: Number, required: true, default: 0 },
      is_banned: { type: Boolean, required: true, default: false },
      ban_reason: optional,
      banned_by: optional,
      banned_at: { type: Number, default: null },
      banned_seq: { type: Number, required: true, default: 0 },
      first_login: { type: Date },
      last_login: { type: Date, default: null },
      login_count: { type: Number, required: true, default: 0 },
      last_active_at: { type: Date, default: null },
      created_at: { type: Date, required: true, default: now },
      updated_at: { type: Date, required: true, default: now },
    },
    { collection: 'accounts', versionKey: false },
  )
    .index({ username: 1 }, { unique: true, partialFilterExpression: { username: { $exists: true } } })
    .index({ email: 1 }, { unique: true, partialFilterExpression: { email: { $exists: true } } })
    .index({ role: 1 })
    .index({ last_login: -1 })
    .index({ created_at: -1 }),
)
