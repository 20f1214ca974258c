import { accountOf, plazaAccount } from '#server/domains/people/accounts/accounts'
import { AppError } from '#shared/errors'
import { isSameAccount } from '#shared/kit/accounts'
import { friendsAmong } from './pairs.ts'

/** The default, and the refusals of whom the owner of an account does not permit. */
const contacts = {
  calls_from: {
    permitted: 'friends',
    nobody: 'This person takes no calls',
    friends: 'Only friends may call this person',
  },
  messages_from: {
    permitted: 'everyone',
    nobody: 'This person takes no new conversations',
    friends: 'Only friends may start a conversation with this person',
  },
  invites_from: {
    permitted: 'everyone',
    nobody: 'This person takes no invitations',
    friends: 'Only friends may invite this person',
  },
} as const

/** The refusal of a contact of this kind with an account; null if its owner permits it. The service itself is permitted. */
export async function refusalOfContact(
  kind: keyof typeof contacts,
  from: string,
  to: string,
): Promise<AppError | null> {
  if (isSameAccount(from, plazaAccount)) return null
  const { permitted, ...refusals } = contacts[kind]
  const allowed = (await accountOf(to))?.[kind] ?? permitted
  if (allowed === 'everyone') return null
  if (allowed === 'friends' && (await friendsAmong(to, [from])).length > 0) return null
  return new AppError('FORBIDDEN', { message: refusals[allowed] })
}
