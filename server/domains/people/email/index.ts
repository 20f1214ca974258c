import { accountOf } from '#server/domains/people/accounts/accounts'
import { clearEmail } from '#server/domains/people/accounts/emails'
import { emailOf, notifyOfChange } from '#server/domains/people/identity/change-notices'
import { endOtherSessions } from '#server/domains/people/identity/session-ends'
import { emailJob } from '#server/domains/platform/outgoing/index'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { email as contract } from '#shared/api/people/email'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'
import { attachAddress, attachingCaller, sendAttachCode } from './attach.ts'
import { checkLink, loginByCode, loginByLink, restoreSession, sendLink, sendLoginCode } from './sign-in.ts'

const sent = { ...done, message: 'Verification code sent' }

export const email = defineDomain(
  contract,
  {
    async sendLoginCode(input, context) {
      await sendLoginCode(context, input.email)
      return sent
    },

    login: ({ email, code, updates }, context) => loginByCode(context, email, code, updates),

    async sendLink(input, context) {
      await sendLink(context, input.email, input.redirect)
      return { ...done, message: 'Link sent' }
    },

    checkLink: ({ token }, context) => checkLink(context, token),

    openLink: ({ token, updates }, context) => loginByLink(context, token, updates),

    async sendCode({ email, walletAddress }, context) {
      const caller = attachingCaller(context, walletAddress)
      if (caller) await sendAttachCode(context, caller, email)
      else await sendLoginCode(context, email)
      return sent
    },

    verifyCode({ email, code, walletAddress, updates }, context) {
      const caller = attachingCaller(context, walletAddress)
      if (caller) return attachAddress(context, caller, code, email, updates)
      if (email === undefined) throw new AppError('VALIDATION_ERROR', { message: 'Email is required' })
      return loginByCode(context, email, code, updates)
    },

    async restoreSession({ email, address, token }, context) {
      const { account } = context.caller
      if (account !== null) {
        const record = await accountOf(account)
        const shown = { email: record?.email ?? null, walletAddress: account }
        return { ...done, message: 'Already signed in', authenticated: true, ...shown } as const
      }
      if (token === undefined) throw new AppError('UNAUTHORIZED', { message: 'Sign in again' })
      return restoreSession(context, email, address, token)
    },

    async remove(_input, context) {
      const caller = signedIn(context)
      const email = await emailOf(caller.account)
      await clearEmail(caller.account, context.node.now())
      await endOtherSessions(context.node, caller, 'email')
      if (email !== null)
        await notifyOfChange(context, caller.account, { change: 'removed', method: 'email', identifier: email }, [
          email,
        ])
      return done
    },
  },
  {
    jobs: [emailJob],
  },
)
