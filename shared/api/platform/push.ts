import { z } from 'zod'
import { Zone } from '#shared/api/meetings/booking'
import { operation } from '#shared/kit/contract'
import { Address, CallerAddress, clearable, count, Done, nameLine, text } from '#shared/kit/primitives'

/** What a notification is of. All but the last can be turned off, each by its preference. */
export const pushTypes = [
  'message',
  'group_message',
  'channel_message',
  'incoming_call',
  'group_invitation',
  'notification',
] as const
export type PushType = (typeof pushTypes)[number]
/** Of a call that rings. */
export const ringing = 'incoming_call' as const
/** The types for messages in rooms. */
export type MessagePush = Extract<PushType, `${string}message`>

/** The reason why a notice was not sent: a preference, quiet hours, or nothing to show. */
const suppressions = [
  'notify_dms',
  'notify_groups',
  'notify_channels',
  'notify_calls',
  'notify_invitations',
  'quiet_hours',
  'do_not_disturb',
] as const
export type Suppression = (typeof suppressions)[number]

/** Bytes in base64url, of so many characters; those of base64 and a filling at the end are taken, too. */
const bytes = (characters: number, says: string) =>
  z
    .string()
    .max(characters + 2)
    .overwrite((given) => given.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, ''))
    .regex(new RegExp(`^[A-Za-z0-9_-]{${characters}}$`), { error: says })

const noEndpoint = 'endpoint must be an https:// address'
const Endpoint = z
  .string({ error: 'endpoint is required' })
  .max(1_000)
  .regex(/^https:\/\/[\x21\x22\x24-\x7e]+$/, { error: noEndpoint })
  .refine((given) => URL.canParse(given), { error: noEndpoint })

/** As `PushSubscription.toJSON()` of browsers writes it. */
const Subscription = z.object({
  endpoint: Endpoint,
  keys: z.object({
    p256dh: bytes(87, 'subscription.keys.p256dh must be a public key of 65 bytes in base64url'),
    auth: bytes(22, 'subscription.keys.auth must be 16 bytes in base64url'),
  }),
})

/** An address of this site, whole or as a path, such as `/calls`. */
const OwnLink = z
  .string()
  .max(500)
  .regex(/^[\x21-\x7e]*$/, { error: 'Invalid url' })
  .meta({ format: 'uri' })

/** An hour of the day. */
const Hour = count(0, 23).nullable()
const Switch = z.boolean().nullish()

const Preferences = z.object({
  /** Quiet hours, from the first to before the second: only calls are sent. None if one is null. */
  quietStart: Hour,
  quietEnd: Hour,
  /** The zone by whose clocks these are, also where they are changed in summer; null for UTC. */
  quietTimezone: z.string().nullable(),
  notifyDms: z.boolean(),
  notifyGroups: z.boolean(),
  notifyChannels: z.boolean(),
  notifyCalls: z.boolean(),
  notifyInvitations: z.boolean(),
})
export type Preferences = z.infer<typeof Preferences>

/** As a form sends it: an empty hour is none. */
const HourGiven = Hour.or(z.literal('')).optional()

export const push = {
  publicKey: operation({
    summary: 'The key by which browsers subscribe to notifications of this server (VAPID): `applicationServerKey`.',
    http: 'GET /api/push/public-key',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({}),
    output: z.object({ publicKey: z.string() }),
  }),
  subscribe: operation({
    summary:
      'Have this browser told by Web Push of what concerns the caller while no page of theirs is in front of them, until its device is signed out. The last ten browsers of an account are told; one that another account has subscribed is of the caller alone from then on. The endpoint must be of a push service that this server asks.',
    http: 'POST /api/push/subscribe',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({ subscription: Subscription }),
    output: Done,
  }),
  unsubscribe: operation({
    summary: 'Tell the browser of this endpoint no more; without one, all browsers of the caller.',
    http: 'DELETE /api/push/subscribe',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'withdraws',
    input: z.object({ endpoint: Endpoint.or(z.literal('')).nullish() }),
    output: Done,
  }),
  send: operation({
    summary:
      'Notify the browsers of the caller, or of a friend. Who it is from is said by the server: the title of a message or a call is the name of the caller, and other titles begin with it. Of a direct message nothing is said but that there is one. `suppressed` says why nothing was sent. Where the two are no friends, or not any more, it is refused (403), whether the other is subscribed or not.',
    http: 'POST /api/push/send',
    access: 'user',
    limit: 'messaging',
    cost: 'cheap',
    repeat: 'harmless',
    errorBody: 'text',
    input: z.object({
      targetAddress: Address,
      title: nameLine(0, 100).nullish(),
      body: text(2_000).nullish(),
      /** `notification`, where nothing is said. */
      type: z.enum(pushTypes, { error: 'Invalid type' }).nullish(),
      senderAddress: CallerAddress,
      callerId: CallerAddress,
      /** Not read: the server says who calls. */
      callerName: text(200).nullish(),
      /** What a click opens; nothing elsewhere. */
      url: OwnLink.nullish(),
    }),
    output: z.object({ success: z.literal(true), suppressed: z.enum(suppressions).optional() }),
    errors: ['NOT_FOUND', 'SUBSCRIPTION_EXPIRED', 'UPSTREAM_ERROR'],
    statuses: { UPSTREAM_ERROR: [500] },
  }),
  preferences: operation({
    summary: 'Of what the caller is notified, and in which hours of nothing but calls.',
    http: 'GET /api/notifications/preferences',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object({}),
    output: Preferences,
  }),
  changePreferences: operation({
    summary:
      'Change of what the caller is notified; what is left out stays. Hours are by the clocks of `quietTimezone`, of UTC where that is null.',
    http: 'PATCH /api/notifications/preferences',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'protects',
    input: z.object({
      quietStart: HourGiven,
      quietEnd: HourGiven,
      quietTimezone: clearable(Zone).optional(),
      notifyDms: Switch,
      notifyGroups: Switch,
      notifyChannels: Switch,
      notifyCalls: Switch,
      notifyInvitations: Switch,
    }),
    output: Done,
  }),
}
