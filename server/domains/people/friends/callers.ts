import { accountOf } from '#server/domains/people/accounts/accounts'
import { AppError } from '#shared/errors'
import { friendsAmong } from './pairs.ts'

/** The refusal of a call to an account; null if allowed. By default friends may call. */
export async function refusalOfCall(caller: string, callee: string): Promise<AppError | null> {
  const { calls_from = 'friends' } = (await accountOf(callee)) ?? {}
  if (calls_from === 'everyone') return null
  if (calls_from === 'nobody') return new AppError('FORBIDDEN', { message: 'This person takes no calls' })
  const isFriend = (await friendsAmong(callee, [caller])).length > 0
  return isFriend ? null : new AppError('FORBIDDEN', { message: 'Only friends may call this person' })
}
