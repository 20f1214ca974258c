// Modes: embedded
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { setEmail } from '#server/domains/people/accounts/emails'
import { OneTimeCodes } from '#server/domains/people/identity/model'
import { Passkeys, RecoveryTokens } from '#server/domains/people/passkeys/model'
import { passkeys } from '#shared/api/people/passkeys'
import { Authenticator } from '#test/support/authenticator'
import { type Booted, boot } from '#test/support/boot'
import { beginRegistration, enrol, post, signInBy } from '#test/support/passkeys'
import { people } from '#test/support/people'
import { call } from '#test/support/wallet'

let server: Booted
let url: string
beforeAll(async () => {
  server = await boot({ entry: 'through the door' })
  url = server.url
})
afterAll(() => server.close())

const Letters = z.object({ letters: z.array(z.object({ to: z.string(), text: z.string() })) })
/** The code of the newest letter to an address. */
const codeFor = (email: string): Promise<string> =>
  vi.waitFor(async () => {
    const { letters } = Letters.parse(await (await fetch(`${url}/dev/mail.json`)).json())
    const letter = letters.find(({ to }) => to === email.toLowerCase())
    return z.string().parse(letter?.text.match(/\b\d{6}\b/)?.[0])
  })
const withEmail = async () => {
  const made = await enrol(url)
  const email = `${made.userAddress}@example.com`
  await setEmail(made.userAddress, email, Date.now())
  return { ...made, email }
}
const tokenFor = async (email: string, more: object = {}) => {
  await post(url, 'recover/email', { email })
  return post(url, 'recover/email/verify', { email, code: await codeFor(email), ...more })
}

test('by e-mail gives a token for one new passkey of the account', async () => {
  const { email, userAddress } = await withEmail()
  const proved = await tokenFor(email.toUpperCase())
  expect(proved.body).toMatchObject({
    userAddress,
    recoveryToken: expect.stringMatching(/^([A-HJ-NP-Z2-9]{4}-){2}[A-HJ-NP-Z2-9]{4}$/),
    expiresIn: 600,
  })
  const recoveryToken = String(proved.body.recoveryToken)
  const options = await post(url, 'register/options', { recoveryToken })
  expect(options.body).toMatchObject({ isRecoveryFlow: true, userAddress, excludeCredentials: [] })
  const { key } = await enrol(url, new Authenticator(), { recoveryToken: recoveryToken.toLowerCase() })
  expect(await signInBy(url, key)).toMatchObject({ status: 200, body: { userAddress } })
  const again = await post(url, 'register/options', { recoveryToken })
  expect(again).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
})

test('is offered to who is signed in for their own account, where it has a verified address', async () => {
  const [who, other] = await people(server, 'has an address', 'has none')
  await setEmail(who.account, 'has.an.address@example.com', Date.now())
  expect((await who.does('rest', passkeys.recoverable, {})).possibleAccounts).toEqual([
    { address: who.account, username: null, hasEmail: true },
  ])
  expect((await other.does('rest', passkeys.recoverable, {})).possibleAccounts).toEqual([])
  expect((await call(url, 'GET /api/passkey/recover')).status).toBe(401)
})

test('answers alike for an address that nobody has', async () => {
  const { email } = await withEmail()
  const [known, unknown] = [
    await post(url, 'recover/email', { email }),
    await post(url, 'recover/email', { email: 'nobody@example.com' }),
  ]
  expect(unknown.body).toEqual(known.body)
  for (const address of [email, 'nobody@example.com']) {
    const guess = () => post(url, 'recover/email/verify', { email: address, code: '000000' })
    for (let tries = 0; tries < 5; tries++) expect(await guess()).toMatchObject({ status: 400, code: 'INVALID_CODE' })
    expect(await guess()).toMatchObject({ status: 400, code: 'TOO_MANY_ATTEMPTS' })
  }
})

test('a passkey that is lost here names the account it made, for the owner of its e-mail alone', async () => {
  const { key, email, userAddress } = await withEmail()
  await Passkeys.deleteOne({ credential_id: key.credentialId })
  const refused = await signInBy(url, key)
  expect(refused).toMatchObject({ status: 400, code: 'RESCUE_AVAILABLE' })
  expect(refused.body).toMatchObject({
    error: 'rescue_available',
    rescueAddress: userAddress,
    rescueToken: expect.any(String),
    requiresEmailVerification: true,
    maskedEmail: '0***@e***.com',
  })
  const recoveryToken = String(refused.body.rescueToken)
  const rescue = { recoveryToken, isRescue: true }
  expect(await post(url, 'register/options', rescue)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
  await tokenFor(email, { rescueToken: recoveryToken })
  const { userAddress: rescued } = await enrol(url, new Authenticator(), { recoveryToken })
  expect(rescued).toBe(userAddress)
})

test('a token is of one account, of one challenge, and used up by one of many', async () => {
  const { email } = await withEmail()
  const recoveryToken = String((await tokenFor(email)).body.recoveryToken)
  const other = await enrol(url)
  expect(await post(url, 'register/options', { recoveryToken, userAddress: other.userAddress })).toMatchObject({
    status: 403,
  })
  const plain = await beginRegistration(url)
  const late = { credential: new Authenticator().create(plain.challenge), recoveryToken }
  expect(await post(url, 'register/verify', late)).toMatchObject({ status: 400, code: 'INVALID_PARAMETER' })
  const tries = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const { challenge } = await beginRegistration(url, { recoveryToken })
      return () => post(url, 'register/verify', { credential: new Authenticator().create(challenge), recoveryToken })
    }),
  )
  const answers = await Promise.all(tries.map((attempt) => attempt()))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  expect(answers.filter(({ code }) => code === 'INVALID_PARAMETER')).toHaveLength(19)
})

test('a token ends after ten minutes, as a code does', async () => {
  const { email } = await withEmail()
  const { recoveryToken } = (await tokenFor(email)).body
  await RecoveryTokens.updateMany({}, { $set: { valid_until: new Date(Date.now() - 1) } })
  expect(await post(url, 'register/options', { recoveryToken })).toMatchObject({ code: 'INVALID_PARAMETER' })
  await post(url, 'recover/email', { email })
  await OneTimeCodes.updateMany({}, { $set: { expires_at: new Date(Date.now() - 1) } })
  const late = await post(url, 'recover/email/verify', { email, code: '000000' })
  expect(late).toMatchObject({ status: 400, code: 'CODE_EXPIRED' })
})
