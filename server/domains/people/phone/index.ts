import { createHash } from 'node:crypto'
import { accountOf } from '#server/domains/people/accounts/accounts'
import { foundRows, isFound } from '#server/domains/people/accounts/found'
import { type Phone, Phones } from '#server/domains/people/accounts/model'
import { friendsAmong } from '#server/domains/people/friends/pairs'
import { notifyOfChange } from '#server/domains/people/identity/change-notices'
import { type CodeRefusal, deleteCode, issueCode, takeCode } from '#server/domains/people/identity/codes'
import { maySendTo, rememberBrowser } from '#server/domains/people/identity/devices'
import { awardPoints, verifiedAwards } from '#server/domains/people/points/ledger'
import { sendTextMessage, textMessageJob } from '#server/domains/platform/outgoing/index'
import { type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { isDuplicate } from '#server/ports/database/port'
import { phone as contract } from '#shared/api/people/phone'
import { AppError } from '#shared/errors'
import { done } from '#shared/kit/primitives'

const phoneOf = (account: string): Promise<Phone | null> => Phones.findOne({ _id: account }).lean<Phone>()

/** The account that verified this number. */
const phoneByNumber = (phone_number: string): Promise<Phone | null> =>
  Phones.findOne({ phone_number, verified: true }).lean<Phone>()

/** The verified numbers of these accounts. */
async function numbersOf(accounts: readonly string[]): Promise<[account: string, number: string][]> {
  const found = await Phones.find({ _id: { $in: [...accounts] }, verified: true }).lean<Phone[]>()
  return found.map(({ _id, phone_number }) => [_id, phone_number])
}

/** Stores the number that an account is about to verify, in place of the previous one. */
async function setNumber(account: string, phone_number: string, at: number): Promise<void> {
  const phone_hash = createHash('sha256').update(phone_number).digest('hex')
  const fields = { phone_number, phone_hash, verified: false, verified_at: null, updated_at: new Date(at) }
  await Phones.updateOne({ _id: account }, { $set: fields }, { upsert: true })
}

/** PHONE_IN_USE if another account verified it meanwhile; NOT_FOUND if this one has changed its number. */
async function verifyNumber(account: string, phone_number: string, at: number): Promise<void> {
  const time = new Date(at)
  const { matchedCount } = await Phones.updateOne(
    { _id: account, phone_number },
    { $set: { verified: true, verified_at: time, updated_at: time } },
  ).catch((error: unknown) => {
    throw isDuplicate(error) ? new AppError('PHONE_IN_USE') : error
  })
  if (matchedCount === 0) throw noCodeError()
}

const noCodeError = () => new AppError('NOT_FOUND', { message: 'No code is pending. Ask for one.' })

async function removeNumber(account: string): Promise<void> {
  await Phones.deleteOne({ _id: account })
}

const purpose = 'phone.verify'
const hourSeconds = 3_600
const textsPerClient = 10

export const phone = defineDomain(
  contract,
  {
    async sendCode({ phoneNumber }, context) {
      const { node } = context
      const { account } = signedIn(context)
      await allowText(context, phoneNumber)
      await setNumber(account, phoneNumber, node.now())
      const { code, expiresAt } = await issueCode(node, purpose, account, phoneNumber)
      await sendTextMessage(node, {
        to: phoneNumber,
        text: `Your Plaza code is ${code}. It is good for ten minutes.`,
      })
      return { ...done, message: 'Verification code sent', expiresAt: new Date(expiresAt).toISOString() }
    },

    async verifyCode({ code }, context) {
      const { node } = context
      const { account } = signedIn(context)
      const known = await phoneOf(account)
      if (known?.verified) return { ...done, message: 'Already verified', phoneNumber: known.phone_number }
      const result = await takeCode(node, purpose, account, code)
      if (!result.taken) throw refusalOf(result.why)
      const phoneNumber = result.detail ?? ''
      await verifyNumber(account, phoneNumber, node.now())
      await rememberBrowser(context, phoneNumber)
      await notifyOfChange(context, account, { change: 'added', method: 'phone', identifier: phoneNumber })
      const pointsAwarded = await awardPoints(context, account, verifiedAwards.phone_verified)
      return { ...done, message: 'This number is yours now', phoneNumber, pointsAwarded }
    },

    async remove(_input, context) {
      const { account } = signedIn(context)
      const known = await phoneOf(account)
      await deleteCode(purpose, account)
      await removeNumber(account)
      if (known?.verified)
        await notifyOfChange(context, account, { change: 'removed', method: 'phone', identifier: known.phone_number })
      return { ...done, message: 'Phone number removed' }
    },

    async status(_input, context) {
      const known = await phoneOf(signedIn(context).account)
      return { phoneNumber: known?.phone_number ?? null, verified: known?.verified ?? false }
    },

    async lookup(input, context) {
      const found = await phoneByNumber(input.phone)
      const isVisible = found !== null && (await mayFind(signedIn(context).account, found._id))
      return {
        data: isVisible
          ? { wallet_address: found._id, phone_number: found.phone_number, verified: true as const }
          : null,
      }
    },

    async friends({ addresses }, context) {
      const { account } = signedIn(context)
      const friends = await foundRows(await friendsAmong(account, addresses), (address) => address, account)
      return { phones: Object.fromEntries(await numbersOf(friends)) }
    },
  },
  {
    jobs: [textMessageJob],
  },
)

/** Friends, and anybody if the account allows it and is found; otherwise the number seems unknown. */
async function mayFind(who: string, whom: string): Promise<boolean> {
  const [account, friends] = await Promise.all([accountOf(whom), friendsAmong(who, [whom])])
  const mayAsk = friends.includes(whom) || account?.findable_by_phone === true
  return who === whom || (mayAsk && account !== null && isFound(account))
}

/**
 * Texts cost money and disturb people. The limits are three an hour for a number and sender, ten for a client and an
 * account.
 */
async function allowText(context: Context, number: string): Promise<void> {
  const { node, caller } = context
  const { account } = signedIn(context)
  if (!node.services.sms)
    throw new AppError('SERVICE_UNAVAILABLE', { message: 'Text messages are not configured here' })
  const allowed =
    (await node.limits.guard('texts-by', account, textsPerClient, hourSeconds)) &&
    (await node.limits.guard('texts-from', caller.ip, textsPerClient, hourSeconds)) &&
    (await maySendTo(context, number))
  if (!allowed) throw new AppError('RATE_LIMIT_EXCEEDED', { retryAfter: hourSeconds })
}

function refusalOf(why: CodeRefusal): AppError {
  if (why === 'unknown') return noCodeError()
  if (why === 'expired') return new AppError('PHONE_CODE_EXPIRED')
  return new AppError(why === 'wrong' ? 'INVALID_CODE' : 'TOO_MANY_ATTEMPTS')
}
