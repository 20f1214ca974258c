import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, onceByKey, repeatable, Time } from '#shared/kit/primitives'
import { Code } from './email.ts'

/**
 * Digits, with a space, a hyphen or a dot between them; the first group may be in brackets. Extensions, pauses and trunk zeros
 * would change the number. Some address books add marks of left-to-right text.
 */
const between = String.raw`\p{Zs}*[\p{Pd}.]?\p{Zs}*`
const written = new RegExp(
  String.raw`^[\s\u200e\u202a\u202d\u2066]*(?:\(\+\d{1,3}\)|\+?\d{0,3})${between}(?:\([1-9]\d{0,4}\))?(?:${between}\d)+[\s\u200e\u202c\u2069]*$`,
  'u',
)

/** E.164, from what people write: ten digits are a number of North America, everything else says its country. */
const PhoneNumber = z
  .string('Phone number is required')
  .max(40, 'Invalid phone number')
  .regex(/^\D*(\d\D*){8,15}$/, 'Invalid phone number')
  // Runs of spaces could be divided among the parts of the number in many ways.
  .refine((given) => written.test(given.replace(/\p{Zs}+/gu, ' ')), { error: 'Invalid phone number' })
  .overwrite((given) => {
    const digits = given.replace(/\D/g, '')
    const isLocal = digits.length === 10 && !given.includes('+')
    return `+${isLocal ? '1' : ''}${digits}`
  })
  .refine((number) => /^\+[1-9]\d{7,14}$/.test(number), { error: 'Invalid phone number' })

const Verified = z.object({
  success: z.literal(true),
  message: z.string(),
  phoneNumber: z.string(),
  /** Given once in the life of an account; absent where the number was verified before. */
  pointsAwarded: z.number().optional(),
})

export const phone = {
  sendCode: operation({
    summary: 'Sends a code to a number, which takes the place of the one before and is not verified yet.',
    http: 'POST /api/phone/send-code',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    freshProof: { unless: [] },
    idempotency: onceByKey,
    input: z.object({ ...repeatable, walletAddress: CallerAddress, phoneNumber: PhoneNumber }),
    output: z.object({ success: z.literal(true), message: z.string(), expiresAt: Time }),
    audit: true,
    errorBody: 'text',
  }),
  verifyCode: operation({
    summary: 'Takes the code: the number is the account’s from then on.',
    http: 'POST /api/phone/verify-code',
    access: 'user',
    limit: 'auth',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({ walletAddress: CallerAddress, code: Code }),
    output: Verified,
    errors: ['INVALID_CODE', 'TOO_MANY_ATTEMPTS', 'NOT_FOUND', 'PHONE_CODE_EXPIRED', 'PHONE_IN_USE'],
    audit: true,
    errorBody: 'text',
  }),
  remove: operation({
    summary: 'Takes the number off the account that calls.',
    http: 'POST /api/phone/remove',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    freshProof: { unless: [] },
    whileSuspended: 'protects',
    input: z.object({ walletAddress: CallerAddress }),
    output: z.object({ success: z.literal(true), message: z.string() }),
    audit: true,
    errorBody: 'text',
  }),
  status: operation({
    summary: 'The number of the account that calls.',
    http: 'GET /api/phone/status',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({ phoneNumber: z.string().nullable(), verified: z.boolean() }),
    errorBody: 'text',
  }),
  lookup: operation({
    summary: 'The account that has verified a number, where it is a friend or lets itself be found; else null.',
    http: 'POST /api/phone/lookup',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: z.object({ phone: PhoneNumber }),
    output: z.object({
      data: z.object({ wallet_address: z.string(), phone_number: z.string(), verified: z.literal(true) }).nullable(),
    }),
    audit: true,
    errorBody: 'text',
  }),
  friends: operation({
    summary: 'The verified numbers of those of these accounts who are friends of the caller; the others are left out.',
    http: 'POST /api/phone/friends',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    whileSuspended: 'reads',
    input: z.object({ addresses: z.array(Address).max(500) }),
    output: z.object({ phones: z.record(z.string(), z.string()) }),
    errorBody: 'text',
  }),
}
