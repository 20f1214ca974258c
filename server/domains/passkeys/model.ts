import mongoose, { Schema } from 'mongoose'

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

const required = { type: String, required: true } as const

export const Passkeys = mongoose.model<Passkey>(
  'Passkeys',
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

export type Ceremony = 'register' | 'login'

export interface PasskeyChallenge {
  /** The challenge itself, base64url. */
  _id: string
  ceremony: Ceremony
  /** The account it is for: the one a passkey is added to, or the one to be signed in; null for a new one, or for whoever comes. */
  user_address: string | null
  /** SHA-256 of the token that recovers the account. */
  recovery_hash: string | null
  user_handle: string
  display_name: string | null
  issued_at: Date
  used: boolean
  /** Kept beyond its life, so that a late use can be told apart from an unknown one. */
  expires_at: Date
}

const optional = { type: String, default: null } as const

export const PasskeyChallenges = mongoose.model<PasskeyChallenge>(
  'PasskeyChallenges',
  new Schema<PasskeyChallenge>(
    {
      _id: required,
      ceremony: required,
      user_address: optional,
      recovery_hash: optional,
      user_handle: { type: String, default: '' },
      display_name: optional,
      issued_at: { type: Date, required: true },
      used: { type: Boolean, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'passkey_challenges', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

export interface RecoveryToken {
  /** SHA-256 of the token; the token itself is nowhere. */
  _id: string
  user_address: string
  /** Whether the owner of the account's e-mail has agreed. */
  confirmed: boolean
  used: boolean
  valid_until: Date
  expires_at: Date
}

/** What lets somebody who lost every passkey add a new one. */
export const RecoveryTokens = mongoose.model<RecoveryToken>(
  'RecoveryTokens',
  new Schema<RecoveryToken>(
    {
      _id: required,
      user_address: required,
      confirmed: { type: Boolean, required: true },
      used: { type: Boolean, required: true },
      valid_until: { type: Date, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'recovery_tokens', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
