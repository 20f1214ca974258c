import { randomBytes } from 'node:crypto'
import { AppError } from '#shared/errors'
import { type Ceremony, type PasskeyChallenge, PasskeyChallenges } from './model.ts'

const lifeMilliseconds = 300_000
const keptMilliseconds = 900_000

type ChallengeFields = Pick<PasskeyChallenge, 'ceremony' | 'user_address'> &
  Partial<Pick<PasskeyChallenge, 'recovery_hash' | 'user_handle' | 'display_name'>>

/** A new challenge for one ceremony and one account. */
export async function issueChallenge(issued: ChallengeFields, now: number): Promise<string> {
  const challenge = randomBytes(32).toString('base64url')
  const times = { issued_at: new Date(now), expires_at: new Date(now + keptMilliseconds) }
  await PasskeyChallenges.create({ ...issued, ...times, _id: challenge, used: false })
  return challenge
}

/** Uses a challenge up before signatures are checked. Of simultaneous calls exactly one succeeds. */
export async function takeChallenge(ceremony: Ceremony, challenge: string, now: number): Promise<PasskeyChallenge> {
  const taken = await PasskeyChallenges.findOneAndUpdate(
    { _id: challenge, ceremony, used: false, issued_at: { $gt: new Date(now - lifeMilliseconds) } },
    { $set: { used: true } },
  ).lean<PasskeyChallenge>()
  if (taken) return taken
  const known = await PasskeyChallenges.findOne({ _id: challenge, ceremony }).lean<PasskeyChallenge>()
  throw new AppError(known && !known.used ? 'CHALLENGE_EXPIRED' : 'PASSKEY_VERIFICATION_FAILED')
}
