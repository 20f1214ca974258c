import { accountOf } from '#server/domains/people/accounts/accounts'
import { AppError } from '#shared/errors'
import { friendsAmong } from './pairs.ts'

/** Why somebody may not ring an account; null where they may. Where it never said whom it lets, friends may. */
export async function refusalOfCall(caller: string, callee: string): Promise<AppError | null> {
  const { calls_from = 'friends' } = (await accountOf(callee)) ?? {}
  if (calls_from === 'everyone') return null
  if (calls_from === 'nobody') return new AppError('FORBIDDEN', { message: 'This person takes no calls' })
  const isFriend = (await friendsAmong(callee, [caller])).length > 0
  return isFriend ? null : new AppError('FORBIDDEN', { message: 'Only friends may call this person' })
}
