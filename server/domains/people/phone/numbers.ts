import { createHash } from 'node:crypto'
import { type Phone, Phones } from '#server/domains/people/accounts/model'
import { isDuplicate } from '#server/ports/database/port'
import { AppError } from '#shared/errors'

export const phoneOf = (account: string): Promise<Phone | null> => Phones.findOne({ _id: account }).lean<Phone>()

/** The account that verified this number. */
export const phoneByNumber = (phone_number: string): Promise<Phone | null> =>
  Phones.findOne({ phone_number, verified: true }).lean<Phone>()

/** The verified numbers of these accounts. */
export async function numbersOf(accounts: readonly string[]): Promise<[account: string, number: string][]> {
  const found = await Phones.find({ _id: { $in: [...accounts] }, verified: true }).lean<Phone[]>()
  return found.map(({ _id, phone_number }) => [_id, phone_number])
}

/** Stores the number that an account is about to verify, in place of the previous one. */
export async function setNumber(account: string, phone_number: string, at: number): Promise<void> {
  const phone_hash = createHash('sha256').update(phone_number).digest('hex')
  const fields = { phone_number, phone_hash, verified: false, verified_at: null, updated_at: new Date(at) }
  await Phones.updateOne({ _id: account }, { $set: fields }, { upsert: true })
}

/** PHONE_IN_USE if another account verified it meanwhile; NOT_FOUND if this one has changed its number. */
export async function verifyNumber(account: string, phone_number: string, at: number): Promise<void> {
  const time = new Date(at)
  const { matchedCount } = await Phones.updateOne(
    { _id: account, phone_number },
    { $set: { verified: true, verified_at: time, updated_at: time } },
  ).catch((error: unknown) => {
    throw isDuplicate(error) ? new AppError('PHONE_IN_USE') : error
  })
  if (matchedCount === 0) throw noCodeError()
}

export const noCodeError = () => new AppError('NOT_FOUND', { message: 'No code is pending. Ask for one.' })

export async function removeNumber(account: string): Promise<void> {
  await Phones.deleteOne({ _id: account })
}
