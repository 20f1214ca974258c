import { randomBytes } from 'node:crypto'
import { areBlocked } from '#server/domains/moderation/blocks/blocks'
import { accountOf, invitesAllocated } from '#server/domains/people/accounts/accounts'
import { isFound } from '#server/domains/people/accounts/found'
import { Accounts } from '#server/domains/people/accounts/model'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import { awardPoints } from '#server/domains/people/points/ledger'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { newId } from '#server/kernel/ids'
import { insertWithinLimit } from '#server/kernel/limited-inserts'
import { isDuplicate } from '#server/ports/database/port'
import { inviteCodes as codesContract, type Invite, invites as invitesContract } from '#shared/api/people/invites'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { done } from '#shared/kit/primitives'
import { withoutUndefined } from '#shared/kit/without-undefined'
import { Invites, InviteUses, type StoredInvite, type StoredUse } from './model.ts'

const pointsForInvite = 100
const hourSeconds = 3_600
/** Attempts in an hour, among 2^32 codes. */
const guesses = { byOne: 10, fromOneAddress: 100 }

/** Redeems a code for the caller, and completes what an earlier call left undone. */
async function redeemInvite(context: Context, code: string): Promise<StoredUse> {
  const { account } = signedIn(context)
  await countGuess(context)
  const before = await InviteUses.findOne({ _id: account }).lean<StoredUse>()
  const use = before ?? (await takeInviteSlot(context, account, await inviteBy(context, account, code)))
  if (use.code !== code) throw new AppError('CONFLICT', { message: 'You have used another invite already' })
  await settleInviteUse(context, use)
  return use
}

/** Does the consequences of a used invite; repeats are harmless. */
async function settleInviteUse(context: Context, use: StoredUse): Promise<void> {
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

const codeBytes = 4

const newInviteCode = (): string => randomBytes(codeBytes).toString('hex').toUpperCase()

/** An account's invites, as many as allocated, with the invited people. */
async function invitesOf(context: Context, account: string) {
  const totalAllocation = invitesAllocated(await accountOf(account))
  const invites = await allocateInvites(context, account, totalAllocation)
  const uses = await InviteUses.find({ invite_id: { $in: invites.map(({ _id }) => _id) } }).lean<StoredUse[]>()
  for (const use of uses) if (!use.settled) await settleInviteUse(context, use)
  const profiles = await profilesOf(
    context.node,
    uses.map(({ _id }) => _id),
  )
  const useOf = new Map(uses.map((use) => [use.invite_id, use]))
  const shown = invites.map((invite): Invite => {
    const { _id: id, owner_address, code, is_active, created_at } = invite
    const use = useOf.get(id)
    return {
      id,
      owner_address,
      code,
      used_by: use?._id ?? null,
      used_by_name: (use && profiles.get(use._id)?.name) ?? null,
      used_at: use?.used_at.toISOString() ?? null,
      is_active,
      created_at: created_at.toISOString(),
    }
  })
  const available = shown.filter(({ used_by, is_active }) => used_by === null && is_active).length
  return { invites: shown, totalAllocation, used: uses.length, available }
}

/**
 * Each invite has a slot of its owner, and a slot has one invite. Simultaneous calls thus never exceed the allocation.
 */
async function allocateInvites(context: Context, owner_address: string, most: number): Promise<StoredInvite[]> {
  for (;;) {
    const invites = await Invites.find({ owner_address, place: { $exists: true } })
      .sort({ place: 1 })
      .lean<StoredInvite[]>()
    const taken = new Set(invites.map(({ place }) => place))
    const free = Array.from({ length: most }, (_, place) => place).filter((place) => !taken.has(place))
    if (free.length === 0) return invites
    const about = { owner_address, is_active: true, created_at: new Date(context.node.now()) }
    const missing = free.map((place) => ({ _id: newId(), code: newInviteCode(), place, ...about }))
    // A duplicate lost its slot to another call, or its code to another invite.
    await Invites.insertMany(missing, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicate(error)) throw error
    })
  }
}

export const invites = defineDomain(invitesContract, {
  list: (_input, context) => invitesOf(context, signedIn(context).account),

  async redeem({ code }, context) {
    const { owner_address: inviter } = await redeemInvite(context, code)
    return { ...done, message: 'Welcome. Your invite gave you 100 points.', inviter }
  },
})

const usesShown = 100
const invitesAtMost = 1_000

export const inviteCodes = defineDomain(codesContract, {
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
