import { randomBytes } from 'node:crypto'
import { accountOf, invitesAllocated } from '#server/domains/people/accounts/accounts'
import { profilesOf } from '#server/domains/people/accounts/profiles'
import type { Context } from '#server/kernel/context'
import { newId } from '#server/kernel/ids'
import { isDuplicate } from '#server/ports/database/port'
import type { Invite } from '#shared/api/people/invites'
import { Invites, InviteUses, type StoredInvite, type StoredUse } from './model.ts'
import { settleInviteUse } from './redeem.ts'

const codeBytes = 4

export const newInviteCode = (): string => randomBytes(codeBytes).toString('hex').toUpperCase()

/** An account's invites, as many as allocated, with the invited people. */
export async function invitesOf(context: Context, account: string) {
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
