import { Schema } from 'mongoose'
import { defineModel } from '#server/kernel/store/model'
import type { AuthMethod } from '#shared/api/people/identity'

/** The methods whose identities are stored here; email and passkeys have their own stores. */
export type LinkedMethod = Exclude<AuthMethod, 'email' | 'passkey'>

export interface Nonce {
  _id: string
  /** The wallet that is to sign it. */
  address: string
  /** The account that links this wallet; absent where nobody was signed in. */
  account?: string
  issued_at: Date
  used: boolean
  /** Kept after its expiry, to distinguish a late or second use from an unknown nonce. */
  expires_at: Date
}

export const Nonces = defineModel<Nonce>(
  'Nonces',
  {
    shares: [
      { owner: 'address', becomes: 'erase' },
      { owner: 'account', becomes: 'erase' },
    ],
    archive: { never: 'It is a sign-in under way, for minutes.' },
  },
  new Schema<Nonce>(
    {
      _id: { type: String, required: true },
      address: { type: String, required: true },
      account: { type: String },
      issued_at: { type: Date, required: true },
      used: { type: Boolean, required: true },
      expires_at: { type: Date, required: true },
    },
    { collection: 'nonces', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

export interface SessionRecord {
  /** Also the `jti` of the token. */
  _id: string
  /** The first session of a refreshed family, which is one device and ends together. */
  family: string
  user_address: string
  user_id: string
  /** SHA-256 of the token, which is not stored. */
  token_hash: string
  auth_method: AuthMethod
  chain_id: number | null
  passkey_credential_id: string | null
  created_at: Date
  /** The time of the sign-in; absent in older sessions. */
  proven_at?: Date
  expires_at: Date
  last_used_at: Date
  user_agent: string
  ip_address: string
  /** SHA-256 of the refresh token. */
  refresh_hash: string
  refresh_expires_at: Date
  /** The time when the refresh token was used; null before. */
  refreshed_at: Date | null
  /** The time when that use was answered; absent before, and in older versions. */
  refresh_answered_at?: Date
}

export const Sessions = defineModel<SessionRecord>(
  'Sessions',
  {
    shares: [{ owner: 'user_address', becomes: 'erase' }],
    archive: 'sessions',
    secret: ['token_hash', 'refresh_hash'],
  },
  new Schema<SessionRecord>(
    {
      _id: { type: String, required: true },
      family: { type: String, required: true },
      user_address: { type: String, required: true },
      user_id: { type: String, required: true },
      token_hash: { type: String, required: true },
      auth_method: { type: String, required: true },
      chain_id: { type: Number, default: null },
      passkey_credential_id: { type: String, default: null },
      created_at: { type: Date, required: true },
      proven_at: { type: Date },
      expires_at: { type: Date, required: true },
      last_used_at: { type: Date, required: true },
      user_agent: { type: String, default: '' },
      ip_address: { type: String, default: '' },
      refresh_hash: { type: String, required: true },
      refresh_expires_at: { type: Date, required: true },
      refreshed_at: { type: Date, default: null },
      refresh_answered_at: { type: Date },
    },
    { collection: 'sessions', versionKey: false },
  )
    .index({ token_hash: 1 }, { unique: true })
    .index({ refresh_hash: 1 }, { unique: true })
    .index({ user_address: 1 })
    .index({ family: 1 })
    .index({ refresh_expires_at: 1 }, { expireAfterSeconds: 0 }),
)

export interface OneTimeCode {
  /** `purpose subject`: one code at a time for each. */
  _id: string
  /** HMAC of the code with our key; for a link's token plain SHA-256. */
  code_hash: string
  /** The proved value, if it is not the subject. */
  detail: string | null
  /** SHA-256 of the browser that requested a link. */
  browser?: string
  tries: number
  expires_at: Date
  /** Kept after its expiry, to distinguish a late code from an unknown one. */
  kept_until: Date
}

export const OneTimeCodes = defineModel<OneTimeCode>(
  'OneTimeCodes',
  {
    shares: [{ owner: null, becomes: 'keep', reason: 'A late code gets another answer than an unknown one.', days: 1 }],
    archive: { never: 'It is a code under way.' },
    secret: ['code_hash', 'browser'],
    stays: ['detail'],
  },
  new Schema<OneTimeCode>(
    {
      _id: { type: String, required: true },
      code_hash: { type: String, required: true },
      detail: { type: String, default: null },
      browser: { type: String },
      tries: { type: Number, required: true },
      expires_at: { type: Date, required: true },
      kept_until: { type: Date, required: true },
    },
    { collection: 'oneTimeCodes', versionKey: false },
  ).index({ kept_until: 1 }, { expireAfterSeconds: 0 }),
)

/** An identity that was proved once, and signs in to an account. */
export interface IdentityRecord {
  _id: string
  method: LinkedMethod
  /** The id of the account that it would create. */
  identifier: string
  account: string
  created_at: Date
  last_used_at: Date | null
}

export const Identities = defineModel<IdentityRecord>(
  'Identities',
  { shares: [{ owner: 'account', becomes: 'erase' }], archive: 'identities' },
  new Schema<IdentityRecord>(
    {
      _id: { type: String, required: true },
      method: { type: String, required: true },
      identifier: { type: String, required: true },
      account: { type: String, required: true },
      created_at: { type: Date, required: true },
      last_used_at: { type: Date, default: null },
    },
    { collection: 'identities', versionKey: false },
  )
    .index({ method: 1, identifier: 1 }, { unique: true })
    .index({ account: 1 }),
)

export interface ServiceTokenRecord {
  _id: string
  name: string
  /** The bot for which it acts. */
  account: string
  user_id: string
  /** SHA-256 of the token, which is not stored. */
  token_hash: string
  scopes: string[]
  created_by: string
  created_at: Date
  expires_at: Date
  last_used_at: Date | null
}

export const ServiceTokens = defineModel<ServiceTokenRecord>(
  'ServiceTokens',
  {
    shares: [
      { owner: 'account', becomes: 'erase', archive: false },
      { owner: 'created_by', becomes: 'erase' },
    ],
    archive: 'serviceTokens',
    secret: ['token_hash'],
  },
  new Schema<ServiceTokenRecord>(
    {
      _id: { type: String, required: true },
      name: { type: String, required: true },
      account: { type: String, required: true },
      user_id: { type: String, required: true },
      token_hash: { type: String, required: true },
      scopes: { type: [String], required: true },
      created_by: { type: String, required: true },
      created_at: { type: Date, required: true },
      expires_at: { type: Date, required: true },
      last_used_at: { type: Date, default: null },
    },
    { collection: 'serviceTokens', versionKey: false },
  )
    .index({ token_hash: 1 }, { unique: true })
    .index({ created_at: 1 })
    .index({ created_by: 1 })
    .index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)

interface KnownBrowser {
  /** SHA-256 of the browser and of the address or number that it proved. */
  _id: string
  expires_at: Date
}

export const KnownBrowsers = defineModel<KnownBrowser>(
  'KnownBrowsers',
  {
    shares: [
      { owner: null, becomes: 'keep', reason: 'A browser that proved an address once is known by a hash.', days: 90 },
    ],
    archive: { never: 'It is a hash that names nobody.' },
  },
  new Schema<KnownBrowser>(
    { _id: { type: String, required: true }, expires_at: { type: Date, required: true } },
    { collection: 'knownBrowsers', versionKey: false },
  ).index({ expires_at: 1 }, { expireAfterSeconds: 0 }),
)
