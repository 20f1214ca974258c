import type { z } from 'zod'
import { accountOf, createBot, isBot, plazaAccount } from '#server/domains/people/accounts/accounts'
import type { Account } from '#server/domains/people/accounts/model'
import { refuseBotName } from '#server/domains/people/accounts/profile-changes'
import { joinAlpha } from '#server/domains/rooms/rooms/alpha'
import { type Action, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { api } from '#shared/api/index'
import { serviceTokens as contract, type ServiceToken } from '#shared/api/people/service-tokens'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { operationsOf, scopeOf } from '#shared/kit/contract'
import { done } from '#shared/kit/primitives'
import { notifyOfChange } from './change-notices.ts'
import { type ServiceTokenRecord, ServiceTokens } from './model.ts'
import { announceSessionEnd, newServiceToken } from './sessions.ts'
import { tokenHashOf } from './tokens.ts'

const dayMilliseconds = 24 * 60 * 60 * 1000
const scopes = [...new Set(operationsOf(api).map(scopeOf))].sort()

const create: Action<typeof contract.create> = async ({ name, account, scopes: wanted, expiresInDays }, context) => {
  const { node } = context
  const admin = signedIn(context)
  const unknown = wanted.find((scope) => !scopes.includes(scope))
  if (unknown !== undefined) throw new AppError('VALIDATION_ERROR', { message: `There is no scope ${unknown}` })
  const bot = await botFor(node, name, account)
  const token = newServiceToken()
  const now = node.now()
  const record: ServiceTokenRecord = {
    _id: newId(),
    name,
    account: bot._id,
    user_id: bot.user_id,
    token_hash: tokenHashOf(token),
    scopes: [...new Set(wanted)],
    created_by: admin.account,
    created_at: new Date(now),
    expires_at: new Date(now + expiresInDays * dayMilliseconds),
    last_used_at: null,
  }
  await ServiceTokens.create(record)
  await notifyOfChange(context, admin.account, { change: 'added', method: 'service', identifier: name })
  return { ...done, token, serviceToken: tokenOutput(record) }
}

/** A token acts for a bot only, an existing or a new one; never for a person or Plaza itself. */
async function botFor(node: Node, name: string, account: string | undefined): Promise<Account> {
  if (account !== undefined) {
    const known = isBot(account) && !isSameAccount(account, plazaAccount) ? await accountOf(account) : null
    if (!known) throw new AppError('USER_NOT_FOUND', { message: 'There is no such bot' })
    return known
  }
  await refuseBotName(name)
  const bot = await createBot(newId(), name, node.now())
  await joinAlpha(node, bot._id)
  return bot
}

const revoke: Action<typeof contract.revoke> = async ({ id }, context) => {
  const record = await ServiceTokens.findOneAndDelete({ _id: id }).lean<ServiceTokenRecord>()
  if (!record) throw new AppError('NOT_FOUND')
  await announceSessionEnd(context.node, record.account, [id])
  await notifyOfChange(context, record.created_by, { change: 'removed', method: 'service', identifier: record.name })
  return done
}

const tokenOutput = ({ _id: id, ...token }: ServiceTokenRecord): z.input<typeof ServiceToken> => ({
  ...token,
  id,
  created_at: token.created_at.toISOString(),
  expires_at: token.expires_at.toISOString(),
  last_used_at: token.last_used_at?.toISOString() ?? null,
})

export const serviceTokens = defineDomain(contract, {
  create,
  async list(_input, { node }) {
    const valid = await ServiceTokens.find({ expires_at: { $gt: new Date(node.now()) } })
      .sort({ created_at: 1 })
      .lean<ServiceTokenRecord[]>()
    return { tokens: valid.map(tokenOutput), scopes }
  },
  revoke,
})
