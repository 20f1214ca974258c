import { z } from 'zod'
import { ConfigError, hosts, urlOf } from '#server/kernel/settings'
import { publicKeyOf } from '#server/ports/push/port'

/** What people are sent: letters, texts, and notifications to their browsers. */
export const outgoingVariables = z.object({
  MAIL_URL: urlOf(/^smtps?:\/\//, 'must start with smtp:// or smtps:// and name a host, or be captured')
    .or(z.literal('captured'))
    .optional(),
  MAIL_FROM: z
    .string()
    .regex(/^([^<>@]*<[^\s<>@:/]+@[^\s<>@:/]+>|[^\s<>@:/]+@[^\s<>@:/]+)$/, {
      error: 'must be an address, such as Plaza <door@example.com>',
    })
    .optional(),
  SMS_URL: urlOf(/^https?:\/\//, 'must be a URL, or captured')
    .or(z.literal('captured'))
    .optional(),
  SMS_FROM: z
    .string()
    .regex(/^[^\p{Cf}]{1,100}$/u, { error: 'must be a number or a name that people can read' })
    .default('Plaza'),
  VAPID_PUBLIC_KEY: z
    .string()
    .regex(/^[\w-]{87}$/, { error: 'must be a public key of P-256 in base64url' })
    .optional(),
  VAPID_PRIVATE_KEY: z
    .string()
    .regex(/^[\w-]{43}$/, { error: 'must be a private key of P-256 in base64url' })
    .optional(),
  VAPID_SUBJECT: z
    .string()
    .regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/[^\s/]+\S*)$/, { error: 'must be a mailto: or an https:// address' })
    .refine((given) => URL.canParse(given), { error: 'must be a mailto: or an https:// address' })
    .optional(),
  PUSH_HOSTS: hosts,
})

type Given = z.output<typeof outgoingVariables>

export interface OutgoingConfig {
  mail: { url: string | undefined; from: string }
  sms: { url: string | undefined; from: string }
  /** Push notices of browsers. A null key is generated and stored. */
  push: { privateKey: string | null; subject: string; hosts: readonly string[] }
}

export function outgoingOf(
  env: Given,
  { publicUrl, hasStandIns }: { publicUrl: string; hasStandIns: boolean },
): OutgoingConfig {
  const standIn = hasStandIns ? 'captured' : undefined
  return {
    mail: { url: env.MAIL_URL ?? standIn, from: env.MAIL_FROM ?? `Plaza <no-reply@${new URL(publicUrl).hostname}>` },
    sms: { url: env.SMS_URL ?? standIn, from: env.SMS_FROM },
    push: pushOf(env, publicUrl),
  }
}

/** Those of the browsers that people use. */
const pushServices = [
  'fcm.googleapis.com',
  'updates.push.services.mozilla.com',
  '*.push.apple.com',
  '*.notify.windows.com',
]

function pushOf(env: Given, publicUrl: string): OutgoingConfig['push'] {
  const { VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey, VAPID_SUBJECT: given, PUSH_HOSTS } = env
  if ((publicKey === undefined) !== (privateKey === undefined))
    throw new ConfigError('VAPID_PUBLIC_KEY and VAPID_PRIVATE_KEY belong together.')
  if (privateKey !== undefined && !arePair(privateKey, publicKey))
    throw new ConfigError('VAPID_PRIVATE_KEY is not usable: it is not the key of VAPID_PUBLIC_KEY.')
  const { protocol, hostname } = new URL(publicUrl)
  const hosts = PUSH_HOSTS.length === 0 ? pushServices : PUSH_HOSTS.map((host) => host.toLowerCase())
  const subject = given ?? (protocol === 'https:' ? publicUrl : `mailto:no-reply@${hostname}`)
  return { privateKey: privateKey ?? null, subject, hosts }
}

function arePair(privateKey: string, publicKey: string | undefined): boolean {
  try {
    return publicKeyOf(privateKey) === publicKey
  } catch {
    return false
  }
}
