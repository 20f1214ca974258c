import { grantDemoModerator } from '#server/domains/moderation/moderation/promote'
import { mailboxOf } from '#server/domains/people/contact/index'
import { installationSetting } from '#server/domains/platform/installation/index'
import { type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { version } from '#server/kernel/version'
import type { AuthMethod } from '#shared/api/people/identity'
import { status as contract } from '#shared/api/people/status'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'

const signInMethods = ({ services: { mail, humanProofs, partnerTokens } }: Node): AuthMethod[] => [
  'wallet',
  'solana',
  'passkey',
  ...(mail ? ['email' as const] : []),
  ...(humanProofs ? ['worldid' as const] : []),
  ...(partnerTokens ? ['alien' as const] : []),
]

export const status = defineDomain(contract, {
  get: async (_input, { node, isLocal }) => ({
    name: 'Plaza',
    version,
    node: node.id,
    demo: node.settings.demo && isLocal,
    media: node.services.storage && `${node.settings.storageUrl.replace(/\/+$/, '')}/`,
    sign_in: signInMethods(node),
    mailbox: (isLocal && node.services.mail?.shownAt) || null,
    contact: mailboxOf(node) !== null,
    phone: node.services.sms !== null,
    phone_mailbox: (isLocal && node.services.sms?.shownAt) || null,
    meetings: node.services.meetings.url,
    notice: node.isStoreAway() ? null : await installationSetting('notice').catch(() => null),
  }),

  cancelStream({ stream }, { connection }) {
    connection?.endStream(stream)
    return {}
  },

  async becomeModerator(_input, context) {
    if (!context.node.settings.demo || !context.isLocal) throw new AppError('NOT_FOUND')
    await grantDemoModerator(context.node, signedIn(context).account)
    return done
  },
})
