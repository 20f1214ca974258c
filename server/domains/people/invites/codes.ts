import { accountOf, invitesAllocated } from '#server/domains/people/accounts/accounts'
import { Accounts } from '#server/domains/people/accounts/model'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { isDuplicate } from '#server/ports/database/port'
import { inviteCodes as contract } from '#shared/api/people/invite-codes'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { Invites, InviteUses, type StoredInvite, type StoredUse } from './model.ts'
import { newInviteCode } from './own-invites.ts'

const usesShown = 100
const invitesAtMost = 1_000

export const inviteCodes = defineDomain(contract, {
  async list({ page, limit, activeOnly }) {
    const filter = { by_admin: true as const, ...(activeOnly && { is_active: true }) }
    const [found, total] = await Promise.all([
      Invites.find(filter)
        .sort({ _id: -1 })
        .skip((page - 1) * limit)
        .limit(limit)
        .lean<StoredInvite[]>(),
      Invites.countDocuments(filter),
    ])
    const codes = await Promise.all(found.map(withUses))
    return { codes, total, page, limit, totalPages: Math.ceil(total / limit) }
  },

  async create({ maxUses, expiresAt, note, customCode }, context) {
    const invite: StoredInvite = {
      _id: context.creationId,
      code: customCode ?? newInviteCode(),
      owner_address: signedIn(context).account,
      by_admin: true,
      max_uses: maxUses,
      ...(expiresAt && { expires_at: new Date(expiresAt) }),
      ...(note && { note }),
      is_active: true,
      created_at: new Date(context.node.now()),
    }
    return { ...done, code: inviteOutput(await insertInvite(invite), 0) }
  },

  async update({ code, isActive, note }) {
    const set = withoutUndefined({ is_active: isActive, note: note === null ? '' : note })
    if (Object.keys(set).length === 0)
      throw new AppError('VALIDATION_ERROR', { message: 'isActive or note is required' })
    const { matchedCount } = await Invites.updateOne({ code, by_admin: true }, { $set: set })
    if (matchedCount === 0) throw unknownCode()
    return done
  },

  async remove({ code }) {
    const { deletedCount } = await Invites.deleteOne({ code, by_admin: true })
    if (deletedCount === 0) throw unknownCode()
    return done
  },

  async grant({ walletAddress, additionalInvites }, context) {
    const newTotal = await grantInvites(context, walletAddress, additionalInvites)
    return { ...done, message: `They may invite ${newTotal} now`, newTotal }
  },
})

const unknownCode = () => new AppError('NOT_FOUND', { message: 'This code is not known' })

/** A repeat gets the result of an earlier attempt of the same call. */
async function insertInvite(invite: StoredInvite): Promise<StoredInvite> {
  try {
    await Invites.create(invite)
    return invite
  } catch (error) {
    if (!isDuplicate(error)) throw error
    const before = await Invites.findOne({ _id: invite._id }).lean<StoredInvite>()
    if (!before) throw new AppError('INVITE_CODE_EXISTS')
    return before
  }
}

async function withUses(invite: StoredInvite) {
  const ofIt = { invite_id: invite._id }
  const [uses, count] = await Promise.all([
    InviteUses.find(ofIt).sort({ used_at: -1 }).limit(usesShown).lean<StoredUse[]>(),
    InviteUses.countDocuments(ofIt),
  ])
  const usedBy = uses.map(({ _id, used_at }) => ({ used_by: _id, used_at: used_at.toISOString() }))
  return { ...inviteOutput(invite, count), usedBy }
}

function inviteOutput(
  { _id, code, owner_address, max_uses = 1, expires_at, is_active, note, created_at }: StoredInvite,
  uses: number,
) {
  return {
    id: _id,
    code,
    created_by: owner_address,
    max_uses,
    current_uses: uses,
    expires_at: expires_at?.toISOString() ?? null,
    is_active,
    note: note || null,
    created_at: created_at.toISOString(),
  }
}

/** Returns the account's new number of invites. Nobody grants any to themselves. */
async function grantInvites(context: Context, account: string, more: number): Promise<number> {
  if (isSameAccount(account, signedIn(context).account))
    throw new AppError('FORBIDDEN', { message: 'Another admin must decide this of you' })
  for (;;) {
    const found = await accountOf(account)
    if (!found) throw new AppError('USER_NOT_FOUND')
    const total = invitesAllocated(found) + more
    if (total > invitesAtMost)
      throw new AppError('VALIDATION_ERROR', { message: `An account has ${invitesAtMost} invites at most` })
    const asBefore = { _id: account, invite_count: found.invite_count ?? { $exists: false } }
    const { matchedCount } = await Accounts.updateOne(asBefore, { $set: { invite_count: total } })
    if (matchedCount === 1) return total
  }
}
