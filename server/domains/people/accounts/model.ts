import { Schema } from 'mongoose'
import type { Role } from '#server/kernel/context'
import { optional, required } from '#server/kernel/fields'
import { newId } from '#server/kernel/ids'
import { defineModel } from '#server/kernel/model'
import type { CallsFrom, Social } from '#shared/api/account-records'

export interface Account {
  /** The account id: a wallet address, or an id of another sign-in method. */
  _id: string
  user_id: string
  wallet_type: string | null
  chain: string | null
  /** Absent where there is none, so that the unique index passes over it. */
  username?: string
  /** What the username is taken for: no two accounts have the same. */
  username_look?: string
  display_name: string | null
  /** The display name as it is looked for: in lower case. Absent where there is none, and in what older versions stored. */
  display_name_sought?: string | null
  avatar_url: string | null
  /** Shown instead of the other while `use_custom_avatar` is on. */
  custom_avatar_url: string | null
  use_custom_avatar: boolean
  bio: string | null
  socials: Social[]
  /** Whether the account has a page that everybody may open. */
  public_landing_enabled: boolean
  /** Whether who knows the verified number finds the account. */
  findable_by_phone: boolean
  /** What it says of the moment; absent where it never did. */
  status_emoji?: string | null
  status_text?: string | null
  /** Whether its browsers are told of nothing; absent where it never decided. */
  do_not_disturb?: boolean
  /** Who may ring it; absent where it never decided. */
  calls_from?: CallsFrom
  /** Stored once, in lower case, with the profile and the passkey it follows from; absent before. */
  smart_wallet_address?: string
  smart_wallet_profile?: string
  /** Of a passkey's account; a wallet's follows from the account id. */
  smart_wallet_credential_id?: string
  smart_wallet_x?: string
  smart_wallet_y?: string
  /** The address this account was founded by opens it no more: another account has proved it since. */
  email_taken?: boolean
  /** In lower case, and verified; absent where there is none. */
  email?: string
  email_verified: boolean
  email_verified_at: Date | null
  email_updates_opt_in: boolean
  /** The sum of what the account was given, as it was last written down; it never falls. */
  points: number
  /** What versions before gave 100 points for, without an entry. */
  points_claimed?: string[]
  /** How many others it may invite, where admins have decided so. */
  invite_count?: number
  /** How many it has invited, as they were last counted; it never falls. */
  invites_used?: number
  /** The code by which it was invited, and who did. */
  invite_code_used?: string
  referred_by?: string
  role: Role
  /** Seq of the global act the role follows from; 0 where nobody ever decided on it. */
  role_seq: number
  is_banned: boolean
  /** An admin has let the account make agents. */
  beta_access?: boolean
  /** When the account asked for that; absent where it never did. */
  beta_access_applied_at?: Date
  /** What admins note for one another. */
  admin_notes?: string
  ban_reason: string | null
  banned_by: string | null
  banned_at: number | null
  /** Seq of the global act the suspension follows from. */
  banned_seq: number
  /** From the first sign-in until Plaza has said welcome; absent otherwise. */
  welcome_due?: boolean
  first_login?: Date
  last_login: Date | null
  login_count: number
  last_active_at: Date | null
  /** When it last signed out everywhere: messages that prove an admin are good from then on; absent where it never did. */
  admin_proofs_from?: Date
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
    .index({ is_banned: 1, points: -1, _id: 1 })
    .index({ last_login: -1 })
    .index({ created_at: -1 }),
)

/** A passkey opens the account it was added to. */
export interface Passkey {
  _id: string
  user_address: string
  /** base64url; no two passkeys have the same. */
  credential_id: string
  /** `0x` and 32 bytes in hex. */
  public_key_x: string
  public_key_y: string
  rp_id: string
  counter: number
  /** The user id the authenticator was given; it comes back as `userHandle`. */
  user_handle: string
  display_name: string | null
  aaguid: string
  transports: string[]
  backed_up: boolean
  user_agent: string
  created_at: Date
  last_used_at: Date | null
  /** On the first passkey of an account alone, and only one can have it: its key is the signer of the smart account. */
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
