import type { Config } from '#server/config'
import type { Services } from '#server/kernel/context'
import { createDevMailbox, type DevMailbox } from '#server/kernel/dev-mailbox'
import { type Database, keepPushKey } from '#server/ports/database/port'
import { capturedMail } from '#server/ports/mail/captured'
import type { Mail } from '#server/ports/mail/port'
import { newPrivateKey, type Push } from '#server/ports/push/port'
import { webPush } from '#server/ports/push/web-push'
import { capturedSms } from '#server/ports/sms/captured'
import { httpSms } from '#server/ports/sms/http'
import type { Sms } from '#server/ports/sms/port'
import { guardedWeb } from '#server/ports/web/guarded'
import type { Web } from '#server/ports/web/port'
import type { Part, PartsOf } from './part.ts'

type Outgoing = 'mail' | 'sms' | 'push'

const capturedUrl = 'captured'

export async function openOutgoing(config: Config, database: Database) {
  const captured = createDevMailbox(() => database.now())
  const mail = await openMail(config, captured)
  const sms = openSms(config, captured)
  const pushServices = guardedWeb(config.push.hosts)
  const services: Pick<Services, Outgoing> = { mail, sms, push: await openPush(config, pushServices) }
  return {
    services,
    /** Null if all messages are sent, or none can be. */
    captured: config.mail.url === capturedUrl || config.sms.url === capturedUrl ? captured : null,
    async close() {
      await mail?.close()
      await sms?.close()
      await pushServices.close()
    },
  }
}

async function openMail({ mail: { url, from } }: Config, captured: DevMailbox): Promise<Mail | null> {
  if (url === undefined) return null
  if (url === capturedUrl) return capturedMail((email) => captured.keep({ kind: 'mail', ...email }))
  const { smtpMail } = await import('#server/ports/mail/smtp')
  return smtpMail(url, from)
}

function openSms({ sms: { url, from } }: Config, captured: DevMailbox): Sms | null {
  if (url === undefined) return null
  return url === capturedUrl
    ? capturedSms((text) => captured.keep({ kind: 'sms', subject: null, ...text }))
    : httpSms(url, from)
}

/** Browsers subscribe with one key, so a generated one is stored. */
async function openPush({ push: { privateKey, ...named } }: Config, web: Web): Promise<Push> {
  return webPush({ privateKey: privateKey ?? (await keepPushKey(newPrivateKey())), ...named }, web)
}

export const outgoingParts: PartsOf<Outgoing> = {
  mail: ({ mail: { url } }) => sentBy('mail', 'MAIL_URL', url),
  sms: ({ sms: { url } }) => sentBy('sms', 'SMS_URL', url),
  push: ({ push: { privateKey } }) =>
    privateKey === null
      ? {
          part: 'push',
          adapter: 'web push',
          why: 'VAPID_PRIVATE_KEY is not set: its key is made, and kept in the store',
        }
      : { part: 'push', adapter: 'web push', why: 'VAPID_PRIVATE_KEY is set' },
}

function sentBy(part: string, variable: string, url: string | undefined): Part {
  if (url === undefined) return { part, adapter: 'none', why: `${variable} is not set: what needs it answers 503` }
  if (url === capturedUrl) return { part, adapter: capturedUrl, why: `shown at /dev/mail; ${variable} sends them` }
  return { part, adapter: new URL(url).host, why: `${variable} is set` }
}
