import type { z } from 'zod'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { emailAccountId } from '#server/domains/people/accounts/emails'
import { type Passkey, Passkeys, type Phone, Phones } from '#server/domains/people/accounts/model'
import type { RecentWay } from '#shared/api/people/identities'
import { isSameAccount } from '#shared/kit/accounts'
import { deviceIn } from '#shared/kit/device'
import { Identities, type IdentityRecord } from './model.ts'

const weekMilliseconds = 7 * 24 * 60 * 60 * 1000

/** The sign-in methods of the last week, newest first: a thief may have added one. */
export async function recentSignInMethods(account: string, now: number): Promise<z.input<typeof RecentWay>[]> {
  const since = new Date(now - weekMilliseconds)
  const [records, passkeys, phone, owner] = await Promise.all([
    Identities.find({ account, created_at: { $gt: since } }).lean<IdentityRecord[]>(),
    Passkeys.find({ user_address: account, created_at: { $gt: since } }).lean<Passkey[]>(),
    Phones.findOne({ _id: account, verified: true, verified_at: { $gt: since } }).lean<Phone>(),
    accountOf(account),
  ])
  const { email, email_verified_at: verifiedAt } = owner ?? {}
  const isLinkedEmail =
    email !== undefined && verifiedAt && verifiedAt > since && !isSameAccount(account, emailAccountId(email))
  const ways = [
    ...records
      .filter(({ identifier }) => !isSameAccount(identifier, account))
      .map(({ _id, method, identifier, created_at }) => ({
        kind: 'identity' as const,
        id: _id,
        method,
        identifier,
        linked_at: created_at.toISOString(),
      })),
    ...passkeys.map(({ _id, display_name, user_agent, created_at }) => ({
      kind: 'passkey' as const,
      id: _id,
      method: 'passkey' as const,
      identifier: display_name ?? deviceIn(user_agent) ?? 'Passkey',
      linked_at: created_at.toISOString(),
    })),
    ...(phone?.verified_at
      ? [
          {
            kind: 'phone' as const,
            id: null,
            method: 'phone' as const,
            identifier: phone.phone_number,
            linked_at: phone.verified_at.toISOString(),
          },
        ]
      : []),
    ...(isLinkedEmail
      ? [
          {
            kind: 'email' as const,
            id: null,
            method: 'email' as const,
            identifier: email,
            linked_at: verifiedAt.toISOString(),
          },
        ]
      : []),
  ]
  return ways.sort((one, other) => other.linked_at.localeCompare(one.linked_at))
}
