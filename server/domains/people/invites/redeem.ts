import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import { awardPoints } from '#server/domains/people/points/ledger'
import { type Context, signedIn } from '#server/kernel/context'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { Invites, InviteUses, type StoredInvite, type StoredUse } from './model.ts'

const pointsForInvite = 100
const hourSeconds = 3_600
/** Attempts in an hour, among 2^32 codes. */
const guesses = { byOne: 10, fromOneAddress: 100 }

/** Redeems a code for the caller, and completes what an earlier call left undone. */
export async function redeemInvite(context: Context, code: string): Promise<StoredUse> {
  const { account } = signedIn(context)
  await countGuess(context)
  const before = await InviteUses.findOne({ _id: account }).lean<StoredUse>()
  const use = before ?? (await takeInviteSlot(context, account, await inviteBy(context, account, code)))
  if (use.code !== code) throw new AppError('CONFLICT', { message: 'You have used another invite already' })
  await settleInviteUse(context, use)
  return use
}

/** Does the consequences of a used invite; repeats are harmless. */
export async function settleInviteUse(context: Context, use: StoredUse): Promise<void> {
  const { _id, code, owner_address, by_admin } = use
  const referred = by_admin ? {} : { referred_by: owner_address }
  await Accounts.updateOne({ _id }, { $set: { invite_code_used: code, ...referred } })
  // Admins make any number of codes, so these give no points.
  if (!by_admin) await creditInviter(context, use)
  await awardPoints(context, _id, { claim: 'invited', points: pointsForInvite, reason: 'Invited' })
  await InviteUses.updateOne({ _id }, { $set: { settled: true } })
}

async function creditInviter(context: Context, { owner_address, invite_id }: StoredUse): Promise<void> {
  const invites_used = await InviteUses.countDocuments({ owner_address, by_admin: { $exists: false } })
  await Accounts.updateOne({ _id: owner_address }, { $max: { invites_used } })
  const reason = 'Somebody you invited is here'
  await awardPoints(context, owner_address, { claim: `invite_${invite_id}`, points: pointsForInvite, reason })
}

/** One row holds both limits: an account is invited once, and a code is used no more often than allowed. */
async function takeInviteSlot(context: Context, account: string, invite: StoredInvite): Promise<StoredUse> {
  const { _id: invite_id, code, owner_address, by_admin, max_uses = 1 } = invite
  const used_at = new Date(context.node.now())
  const about = { invite_id, code, owner_address, ...(by_admin && { by_admin }) }
  const use: StoredUse = { _id: account, ...about, used_at, settled: false }
  const stands = await insertWithinLimit(InviteUses, use, { others: { invite_id }, most: max_uses || null })
  if (!stands) throw new AppError('INVALID_INVITE')
  return stands
}

async function countGuess(context: Context): Promise<void> {
  const { account, ip } = signedIn(context)
  const { limits } = context.node
  const isAllowed =
    (await limits.guard('invites-by', account, guesses.byOne, hourSeconds)) &&
    (await limits.guard('invites-from', ip, guesses.fromOneAddress, hourSeconds))
  if (!isAllowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

/** The invite of a code for this account. An unknown code and an invalid one get the same refusal. */
async function inviteBy({ node }: Context, account: string, code: string): Promise<StoredInvite> {
  const invite = await Invites.findOne({ code }).lean<StoredInvite>()
  const isOver = invite?.expires_at !== undefined && invite.expires_at.getTime() <= node.now()
  if (!invite?.is_active || isOver) throw new AppError('INVALID_INVITE')
  if (isSameAccount(invite.owner_address, account)) throw new AppError('OWN_INVITE')
  const [owner, isBlocked] = await Promise.all([
    accountOf(invite.owner_address),
    areBlocked(account, invite.owner_address),
  ])
  if (!owner || !isFound(owner) || isBlocked) throw new AppError('INVALID_INVITE')
  return invite
}
