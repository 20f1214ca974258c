import { Schema } from 'mongoose'
import type { Role } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { optional, required } from '#server/kernel/store/fields'
import { defineModel } from '#server/kernel/store/model'
import type { ContactsFrom, Social } from '#shared/api/people/account-records'

export interface Account {
  /** The account id: a wallet address, or the id of another sign-in method. */
  _id: string
  user_id: string
  wallet_type: string | null
  chain: string | null
  /** Absent without a username, so that the unique index ignores it. */
  username?: string
  /** The canonical look of the username, which is unique among accounts. */
  username_look?: string
  display_name: string | null
  /** The display name in lower case, for search. Absent without a name, and in accounts of older versions. */
  display_name_sought?: string | null
  avatar_url: string | null
  /** Replaces `avatar_url` while `use_custom_avatar` is on. */
  custom_avatar_url: string | null
  use_custom_avatar: boolean
  bio: string | null
  socials: Social[]
  /** Has the account a public page? */
  public_landing_enabled: boolean
  /** May people find the account by its verified number? */
  findable_by_phone: boolean
  /** The status; absent if it was never set. */
  status_emoji?: string | null
  status_text?: string | null
  /** Are push notifications off? Absent if it was never set. */
  do_not_disturb?: boolean
  /** The people who may call it; absent if it was never set. */
  calls_from?: ContactsFrom
  /** The people who may start a conversation, and invite it to rooms; absent if that was never set. */
  messages_from?: ContactsFrom
  invites_from?: ContactsFrom
  /** Stored once, in lower case, with its profile and passkey; absent before. */
  smart_wallet_address?: string
  smart_wallet_profile?: string
  /** For an account of a passkey; a wallet's follows from the account id. */
  smart_wallet_credential_id?: string
  smart_wallet_x?: string
  smart_wallet_y?: string
  /** The address that created this account no longer signs in to it, because another account verified it. */
  email_taken?: boolean
  /** In lower case and verified; absent without one. */
  email?: string
  email_verified: boolean
  email_verified_at: Date | null
  email_updates_opt_in: boolean
  /** The last stored sum of its points; it never decreases. */
  points: number
  /** Claims of 100 points from older versions, without an entry. */
  points_claimed?: string[]
  /** The number of people it may invite, if admins have set it. */
  invite_count?: number
  /** The last count of people it invited; it never decreases. */
  invites_used?: number
  /** The code of its own invitation, and the inviter. */
  invite_code_used?: string
  referred_by?: string
  role: Role
  /** The seq of the event in `global` that set the role; 0 if there is none. */
  role_seq: number
  is_banned: boolean
  /** Has an admin allowed the account to create agents? */
  beta_access?: boolean
  /** When the account requested that; absent if it never did. */
  beta_access_applied_at?: Date
  admin_notes?: string
  ban_reason: string | null
  banned_by: string | null
  banned_at: number | null
  /** The seq of the event in `global` that set the suspension. */
  banned_seq: number
  /** Present from the first sign-in until the welcome is sent. */
  welcome_due?: boolean
  first_login?: Date
  last_login: Date | null
  login_count: number
  last_active_at: Date | null
  /** The last sign-out everywhere, before which admin proofs are invalid; absent if there was none. */
  admin_proofs_from?: Date
  /** When the account is to be erased, and by which erasure; absent unless its owner has asked for that. */
  erased_at?: Date
  erasure_id?: string
  /** The erasure has begun, and nobody signs in any more. */
  is_erasing?: boolean
  /** When a sign-in last took an erasure back. */
  kept_at?: Date
  created_at: Date
  updated_at: Date
}

export const Accounts = defineModel<Account>(
  'Accounts',
  {
    shares: [
      { owner: '_id', becomes: 'erase' },
      { owner: 'referred_by', becomes: 'unlink', archive: false },
      { owner: 'banned_by', becomes: 'unlink', archive: false },
    ],
    archive: 'accounts',
    secret: ['admin_notes', 'banned_by'],
    stays: ['smart_wallet_address', 'chain', 'admin_proofs_from'],
  },
  new Schema<Account>(
    {
      _id: { type: String, required: true },
      user_id: { type: String, required: true, default: newId },
      wallet_type: optional,
      chain: optional,
      username: { type: String },
      username_look: { type: String },
      display_name: optional,
      display_name_sought: { type: String },
      avatar_url: optional,
      custom_avatar_url: optional,
      use_custom_avatar: { type: Boolean, required: true, default: false },
      bio: optional,
      socials: { type: [{ _id: false, platform: String, handle: String }], default: [] },
      public_landing_enabled: { type: Boolean, required: true, default: false },
      findable_by_phone: { type: Boolean, required: true, default: false },
      status_emoji: { type: String },
      status_text: { type: String },
      do_not_disturb: { type: Boolean },
      calls_from: { type: String },
      messages_from: { type: String },
      invites_from: { type: String },
      smart_wallet_address: { type: String },
      smart_wallet_profile: { type: String },
      smart_wallet_credential_id: { type: String },
      smart_wallet_x: { type: String },
      smart_wallet_y: { type: String },
      email_taken: { type: Boolean },
      email: { type: String },
      email_verified: { type: Boolean, required: true, default: false },
      email_verified_at: { type: Date, default: null },
      email_updates_opt_in: { type: Boolean, required: true, default: false },
      points: { type: Number, required: true, default: 0 },
      points_claimed: { type: [String], default: undefined },
      invite_count: { type: Number },
      invites_used: { type: Number },
      invite_code_used: { type: String },
      referred_by: { type: String },
      role: { type: String, required: true, default: 'user' },
      role_seq: { type: Number, required: true, default: 0 },
      is_banned: { type: Boolean, required: true, default: false },
      beta_access: { type: Boolean },
      beta_access_applied_at: { type: Date },
      admin_notes: { type: String },
      ban_reason: optional,
      banned_by: optional,
      banned_at: { type: Number, default: null },
      banned_seq: { type: Number, required: true, default: 0 },
      welcome_due: { type: Boolean },
      first_login: { type: Date },
      last_login: { type: Date, default: null },
      login_count: { type: Number, required: true, default: 0 },
      last_active_at: { type: Date, default: null },
      admin_proofs_from: { type: Date },
      erased_at: { type: Date },
      erasure_id: { type: String },
      is_erasing: { type: Boolean },
      kept_at: { type: Date },
      created_at: { type: Date, required: true },
      updated_at: { type: Date, required: true },
    },
    { collection: 'accounts', versionKey: false },
  )
    .index({ username: 1 }, { unique: true, partialFilterExpression: { username: { $exists: true } } })
    .index({ username_look: 1 }, { unique: true, partialFilterExpression: { username_look: { $exists: true } } })
    .index({ email: 1 }, { unique: true, partialFilterExpression: { email: { $exists: true } } })
    .index({ display_name_sought: 1 })
    .index({ role: 1 })
    .index({ avatar_url: 1 })
    .index({ custom_avatar_url: 1 })
    .index({ is_banned: 1 }, { partialFilterExpression: { is_banned: true } })
    .index({ erased_at: 1 }, { partialFilterExpression: { erased_at: { $exists: true } } })
    .index({ is_banned: 1, points: -1, _id: 1 })
    .index({ last_login: -1 })
    .index({ created_at: -1 }),
)

/** A passkey of the account to which it was added. */
export interface Passkey {
  _id: string
  user_address: string
  /** base64url; unique. */
  credential_id: string
  /** `0x` and 32 bytes in hex. */
  public_key_x: string
  public_key_y: string
  rp_id: string
  counter: number
  /** The user id given to the authenticator, which returns it as `userHandle`. */
  user_handle: string
  display_name: string | null
  aaguid: string
  transports: string[]
  backed_up: boolean
  user_agent: string
  created_at: Date
  last_used_at: Date | null
  /** Only on the first passkey of an account, and unique: its key signs for the smart account. */
  first_of?: string
}

export const Passkeys = defineModel<Passkey>(
  'Passkeys',
  { shares: [{ owner: 'user_address', becomes: 'erase' }], archive: 'passkeys' },
  new Schema<Passkey>(
    {
      _id: required,
      user_address: required,
      credential_id: required,
      public_key_x: required,
      public_key_y: required,
      rp_id: required,
      counter: { type: Number, required: true },
      user_handle: required,
      display_name: { type: String, default: null },
      aaguid: required,
      transports: { type: [String], required: true },
      backed_up: { type: Boolean, required: true },
      user_agent: { type: String, default: '' },
      created_at: { type: Date, required: true },
      last_used_at: { type: Date, default: null },
      first_of: { type: String },
    },
    { collection: 'passkeys', versionKey: false },
  )
    .index({ credential_id: 1 }, { unique: true })
    .index({ first_of: 1 }, { unique: true, partialFilterExpression: { first_of: { $exists: true } } })
    .index({ user_address: 1, created_at: -1 }),
)

export interface Phone {
  /** The account. */
  _id: string
  /** E.164. */
  phone_number: string
  /** SHA-256 of the number. */
  phone_hash: string
  verified: boolean
  verified_at: Date | null
  updated_at: Date
}

export const Phones = defineModel<Phone>(
  'Phones',
  { shares: [{ owner: '_id', becomes: 'erase' }], archive: 'phone', secret: ['phone_hash'] },
  new Schema<Phone>(
    {
      _id: { type: String, required: true },
      phone_number: { type: String, required: true },
      phone_hash: { type: String, required: true },
      verified: { type: Boolean, required: true },
      verified_at: { type: Date, default: null },
      updated_at: { type: Date, required: true },
    },
    { collection: 'phones', versionKey: false },
  ).index({ phone_number: 1 }, { unique: true, partialFilterExpression: { verified: true } }),
)

/** A username of an erased account that nobody may take yet. `_id` is the hash of what it looks like. */
export const HeldUsernames = defineModel<{ _id: string; expires_at: Date }>(
  'HeldUsernames',
  {
    shares: [
      {
        owner: null,
        becomes: 'keep',
        reason: 'Nobody passes for a deleted account soon after: it is a hash.',
        days: 30,
      },
    ],
    archive: { never: 'It is a hash that names nobody.' },
  },
  new Schema<{ _id: string; expires_at: Date }>(
    { _id: required, expires_at: { type: Date, required: true } },
    { collection: 'held_usernames', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
