// The one error table: code -> [status, message]. Codes are stable; messages may change.
export const errors = {
  VALIDATION_ERROR: [400, 'The request is not valid.'],
  INVALID_PARAMETER: [400, 'A parameter is not valid.'],
  PAYLOAD_TOO_LARGE: [413, 'The request is too large.'],
  UNSUPPORTED_MEDIA_TYPE: [415, 'The content type is not supported.'],
  UNAUTHORIZED: [401, 'Unauthorized'],
  FORBIDDEN: [403, 'You may not do this.'],
  ACCESS_DENIED: [403, 'This belongs to somebody else'],
  NOT_FOUND: [404, 'Not found.'],
  METHOD_NOT_ALLOWED: [405, 'This method is not allowed here.'],
  REQUEST_TIMEOUT: [408, 'The request came too slowly. Send it again.'],
  CONFLICT: [409, 'This conflicts with what is there already.'],
  RATE_LIMIT_EXCEEDED: [429, 'Too many requests'],
  INTERNAL_ERROR: [500, 'Something went wrong.'],
  DATABASE_ERROR: [500, 'The database could not do this.'],
  UPSTREAM_ERROR: [502, 'An outside service failed.'],
  SERVICE_UNAVAILABLE: [503, 'The service cannot answer now. Try again.'],
  TIMEOUT: [504, 'An outside service took too long.'],

  SESSION_EXPIRED: [401, 'The session has expired.'],
  SESSION_INVALID: [401, 'The session is not valid.'],
  SESSION_NOT_FOUND: [401, 'The session has ended.'],
  REAUTHENTICATION_REQUIRED: [403, 'Sign in again to do this'],
  INVALID_SIGNATURE: [401, 'Invalid signature'],
  INVALID_NONCE: [401, 'Invalid nonce'],
  NONCE_EXPIRED: [401, 'The nonce has expired'],
  INVALID_DOMAIN: [401, 'The message was signed for another domain'],
  CHAIN_NOT_SUPPORTED: [400, 'This chain is not supported'],
  USER_NOT_FOUND: [404, 'User not found'],
  USERNAME_TAKEN: [409, 'This username is not available'],
  SUSPENDED: [403, 'Your account is suspended'],
  CHALLENGE_EXPIRED: [401, 'The challenge has expired. Ask for a new one.'],
  PASSKEY_NOT_FOUND: [404, 'This passkey is not known here'],
  PASSKEY_VERIFICATION_FAILED: [401, 'The passkey could not be verified'],
  PASSKEY_ALREADY_REGISTERED: [409, 'This passkey is registered already'],
  INVALID_AUTHENTICATOR: [400, 'This authenticator cannot be used'],
  RESCUE_AVAILABLE: [400, 'rescue_available'],
  WALLET_NOT_FOUND: [404, 'This account has no smart account yet'],
  SAFE_NOT_DEPLOYED: [400, 'The smart account is not deployed on this chain'],
  INSUFFICIENT_BALANCE: [400, 'There is too little on this chain to pay for the transaction'],
  TRANSACTION_FAILED: [400, 'The transaction would fail'],
  INVALID_CODE: [400, 'Invalid verification code'],
  CODE_EXPIRED: [400, 'The code has expired. Ask for a new one.'],
  TOO_MANY_ATTEMPTS: [400, 'Too many attempts. Ask for a new code.'],
  INVALID_LINK: [401, 'This link has been used or has expired. Ask for a new one.'],
  EMAIL_IN_USE: [400, 'This email is verified by another account'],
  PHONE_IN_USE: [409, 'This number is verified by another account'],
  PHONE_CODE_EXPIRED: [410, 'The code has expired. Ask for a new one.'],

  ROOM_NOT_FOUND: [404, 'Room not found'],
  ROOM_ARCHIVED: [409, 'This room is archived'],
  NOT_A_MEMBER: [403, 'You are not a member of this room'],
  GATE_NOT_PASSED: [403, 'You do not have what this room asks for'],
  POSITION_NOT_PLAUSIBLE: [403, 'Nobody travels so fast from where you said you were before'],
  MESSAGE_NOT_FOUND: [404, 'Message not found'],
  INVITATION_NOT_FOUND: [404, 'This invitation is not known. Check that the whole link was copied.'],
  INVITATION_EXPIRED: [410, 'This invitation has expired. Ask for a new one.'],
  INVITATION_USED_UP: [410, 'This invitation has been used as often as it allows. Ask for a new one.'],
  INVITATION_REVOKED: [410, 'This invitation was taken back. Ask for a new one.'],
  EDIT_WINDOW_CLOSED: [400, 'Messages can be edited for 15 minutes'],

  BANNED: [403, 'You are banned from this room'],
  BLOCKED: [403, 'You cannot message this user'],
  MUTED: [403, 'You are muted in this room'],
  READ_ONLY: [403, 'This room is read-only'],
  CONTENT_NOT_ALLOWED: [403, 'This content is not allowed'],
  BLOCKED_WORD: [403, 'Your message contains a blocked word'],
  MESSAGE_REJECTED: [403, 'Your message could not be sent.'],
  LINKS_NOT_ALLOWED: [403, 'Links are not allowed'],
  TEXT_TOO_COMPLEX: [400, 'This message could not be checked. Make it shorter or simpler.'],
  MESSAGE_TOO_LONG: [400, 'Message is too long'],
  SLOW_MODE: [429, 'Slow mode'],

  SUBSCRIPTION_EXPIRED: [410, 'No browser of this user is subscribed any more'],

  MEETING_ENDED: [410, 'This meeting has ended'],
  MEETING_EXPIRED: [410, 'This meeting has expired'],
  HOST_ABSENT: [409, 'The host of this meeting is not there yet'],
  MEETING_FULL: [409, 'This meeting is full'],
  MEETING_TOKEN_INVALID: [401, 'This token lets nobody in, or not any more. Ask for another.'],

  STREAM_NOT_FOUND: [404, 'Stream not found'],
  STREAM_ENDED: [409, 'This stream has ended'],
  STREAM_NOT_LIVE: [404, 'This stream is not live'],
  INVALID_STREAM_KEY: [404, 'Nothing is published or watched by this name'],
  LIVEPEER_ERROR: [500, 'Failed to create stream on the video provider'],

  INVALID_INVITE: [400, 'This code is not known, or was used already'],
  INVITE_CODE_EXISTS: [400, 'There is such a code already'],
  OWN_INVITE: [400, 'This code is your own'],
  SCHEDULING_DISABLED: [403, 'This user cannot be booked'],
  SLOT_TAKEN: [409, 'This time is taken. Choose another.'],
  CALL_NOT_FOUND: [404, 'Call not found'],
  CALL_OVER: [409, 'This call is over'],
  SLUG_TAKEN: [409, 'This address is not available'],
  EMAIL_NOT_VERIFIED: [400, 'Verify your email first'],
  AGENT_NOT_FOUND: [404, 'Agent not found'],
  AGENT_GONE: [410, 'This agent was deleted with the account of its owner'],
  AGENT_PRIVATE: [403, 'Access denied'],
  AGENT_FRIENDS_ONLY: [403, 'Access denied'],
  EVENT_EXISTS: [400, 'This agent has an event of this name on this day already'],
  AGENT_LIMIT_REACHED: [400, 'You can have at most 5 agents'],
  AGENT_EXISTS: [400, 'You have an agent with this name already'],
  AGENT_NAME_RESERVED: [400, 'This name is not available: it passes for this service, its staff or an official agent'],
  BETA_ACCESS_REQUIRED: [403, 'Making agents needs beta access'],
  INVALID_MODEL: [400, 'This model is not supported'],
  AGENT_NOT_PUBLIC: [403, 'Only public agents are reachable through this API'],
  CHAT_HISTORY_NOT_FOUND: [404, 'Nothing was said in this session'],
  X402_NOT_ENABLED: [400, 'x402 is not enabled for this agent'],
  PAYMENT_REQUIRED: [402, 'Payment Required'],
  INVALID_PAYMENT: [402, 'Payment Invalid'],
  INSUFFICIENT_PAYMENT: [402, 'Payment Invalid'],
  WRONG_NETWORK: [402, 'Payment Invalid'],
  PAYMENT_EXPIRED: [402, 'Payment Invalid'],
  X402_PAYMENT_FAILED: [402, 'Payment Invalid'],
  PAYMENT_PENDING: [202, 'It is not known yet whether this payment was settled. Ask for it again; do not pay again.'],
  PAYMENT_NOT_FOUND: [404, 'This payment is not known'],
  KNOWLEDGE_NOT_FOUND: [404, 'Knowledge item not found'],
  KNOWLEDGE_EXISTS: [400, 'This URL was added already'],
  KNOWLEDGE_LIMIT_REACHED: [400, 'The agent knows as many URLs as it may'],
  KNOWLEDGE_INDEXING: [409, 'The page is still being read'],
  KNOWLEDGE_FAILED: [500, 'Failed to index'],
  DAILY_TOKENS_REACHED: [429, 'This agent has answered all that it may today. Ask again tomorrow.'],
  TOO_MANY_QUESTIONS: [429, 'Many of your questions are open. Wait for an answer to one of them.'],
  RUN_NOT_FOUND: [404, 'This answer is not known'],
  RUN_LOST: [500, 'The server that answered has stopped'],
} as const satisfies Record<string, readonly [number, string]>

export type ErrorCode = keyof typeof errors

/** Headers of a REST refusal: its code, and the shape of its body (`ErrorBody`), if it has one. */
export const errorHeaders = { code: 'X-Error-Code', shape: 'X-Error-Shape' } as const

/** What travels beside a code. */
export interface ErrorExtras {
  message?: string
  /** Over REST; without it that of the table. The operation declares it (`statuses`). */
  status?: number
  /** Seconds. */
  retryAfter?: number
  /** The bucket of a rate limit: its allowed calls. `reset` is the Unix time of the next free one, in seconds. */
  rate?: { limit: number; reset: number }
  /** The explained refusal of a send; see `shared/api/moderation/verdict.ts`. */
  verdict?: unknown
  details?: Record<string, unknown>
  cause?: unknown
}

export class AppError extends Error {
  override readonly name = 'AppError'
  readonly code: ErrorCode
  readonly status: number
  readonly retryAfter: number | undefined
  readonly rate: ErrorExtras['rate']
  readonly verdict: unknown
  readonly details: Record<string, unknown> | undefined

  constructor(code: ErrorCode, extras: ErrorExtras = {}) {
    const [status, message] = errors[code]
    super(extras.message ?? message, extras.cause === undefined ? undefined : { cause: extras.cause })
    this.code = code
    this.status = extras.status ?? status
    this.retryAfter = extras.retryAfter
    this.rate = extras.rate
    this.verdict = extras.verdict
    this.details = extras.details
  }
}
