import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { z } from 'zod'
import { addWallet, confirmAct, desktop, openPlaza } from './plaza.ts'

const Mailbox = z.object({ letters: z.array(z.object({ to: z.string(), text: z.string() })) })

/** Every way to sign in that needs no extension, in a browser. */
describe('the ways to sign in', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const visit = () => plaza.visit()
  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()
  const isInside = (page: Page) =>
    page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  const says = (page: Page, text: string) => page.getByRole('alert').getByText(text).waitFor()
  const letterTo = (email: string, pattern: RegExp): Promise<string> =>
    vi.waitFor(async () => {
      const { letters } = Mailbox.parse(await (await fetch(`${plaza.url}/dev/mail.json`)).json())
      const [found] = letters.flatMap(({ to, text }) => (to === email ? (pattern.exec(text)?.[1] ?? []) : []))
      if (found === undefined) throw new Error(`No letter to ${email} yet`)
      return found
    }, 10_000)
  const codeFor = (email: string, effect: string) => letterTo(email, new RegExp(`code is (\\d{6})\\s+It ${effect}`))
  const settings = async (page: Page, tab: string) => {
    await press(page, /Settings/)
    await page.getByRole('tab', { name: tab }).click()
  }
  const signOut = async (page: Page) => {
    await page.getByRole('tab', { name: 'Profile' }).click()
    await press(page, 'Sign out')
    await page.getByRole('button', { name: /as guest/ }).waitFor()
  }

  test('a passkey creates an account, and signs in to it again', async () => {
    const page = await visit()
    await addAuthenticator(page)
    await press(page, 'Passkey')
    await press(page, 'Use a passkey')
    await says(page, 'Your device did not respond, or you closed its window. Nothing was changed.')
    await press(page, 'Create account')
    await isInside(page)

    await settings(page, 'Wallet')
    const address = await page.getByText(/^0x[0-9a-fA-F]{40}$/).textContent()
    await page.getByText('Your first passkey').waitFor()
    await page.getByRole('tab', { name: 'Sign-in & security' }).click()
    await page.getByText('Signs for your wallet').waitFor()
    await signOut(page)

    await press(page, 'Passkey')
    await press(page, 'Use a passkey')
    await isInside(page)
    await settings(page, 'Wallet')
    await page.getByText(address ?? 'no address', { exact: true }).waitFor()
    await page.getByRole('tab', { name: 'Devices' }).click()
    await page.getByRole('region', { name: 'Devices', exact: true }).getByText('This device').waitFor()
  })

  test('a wallet is listed by its name and signs in; a refusal in the wallet is shown', async () => {
    const page = await plaza.visit(desktop, addWallet)
    await press(page, 'Wallet')
    await press(page, 'Test Wallet')
    await says(page, 'The wallet declined the request. Nothing was signed.')
    await press(page, 'Test Wallet')
    await isInside(page)
    await settings(page, 'Sign-in & security')
    await page.getByText('Ethereum wallet').waitFor()
  })

  test('without a wallet the page explains what to do', async () => {
    const page = await visit()
    await press(page, 'Wallet')
    await page.getByText('No wallet in this browser').waitFor()
    await press(page, 'All sign-in options')
    await page.getByRole('button', { name: 'Wallet' }).and(page.locator(':focus')).waitFor()
  })

  test('a phone number is added by a code from a second text, and removed', async () => {
    const page = await plaza.visit(desktop, (fresh) => fresh.clock.install())
    await press(page, 'Enter as guest')
    await isInside(page)
    await settings(page, 'Sign-in & security')
    await page.getByLabel('Phone number').fill('+44 20 7946 0018')
    await press(page, 'Add phone number')
    await page.getByRole('button', { name: /^Resend in \d+ s$/, disabled: true }).waitFor()
    const code = () => letterTo('+442079460018', /code is (\d{6})/)
    const first = await code()
    await page.clock.fastForward('00:31')
    await press(page, 'Resend')
    await expect.poll(code).not.toBe(first)
    await page.getByLabel('6-digit code').fill(await code())
    await page.getByText('+442079460018').waitFor()
    await press(page, 'Remove')
    await confirmAct(page, 'Remove')
    await page.getByLabel('Phone number').waitFor()
  })

  test('a code from an email signs in; a wrong one is refused with a message', async () => {
    const page = await visit()
    await press(page, 'Email')
    await page.getByLabel('Email address').fill('ada@example.org')
    await press(page, 'Send code')
    await page.getByLabel('6-digit code').waitFor()
    const code = await codeFor('ada@example.org', 'signs you in')
    await page.getByLabel('6-digit code').fill(code === '000000' ? '000001' : '000000')
    await says(page, 'This code is wrong. Check it and try again.')
    await page.getByLabel('6-digit code').fill(code)
    await isInside(page)
    await settings(page, 'Wallet')
    await page.getByText('No wallet yet').waitFor()
  })

  test('a link from an email signs in once', async () => {
    const page = await visit()
    await press(page, 'Email')
    await page.getByLabel('Email address').fill('lin@example.org')
    await press(page, 'Send a link instead')
    await page.getByText('We sent a link to').waitFor()
    const link = await letterTo('lin@example.org', /(http\S+)/)
    await page.goto(link)
    await isInside(page)
    expect(page.url()).not.toContain('token')

    const other = await visit()
    await other.goto(link)
    await says(other, 'This link has been used or has expired. Ask for a new one.')
  })

  test('a guest is offered a passkey, and later signs in with it to the same account', async () => {
    const page = await visit()
    await addAuthenticator(page)
    await press(page, 'Enter as guest')
    await isInside(page)
    const offer = page.getByRole('complementary', { name: 'Add a passkey' })
    await offer.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Passkey added. Use it the next time you sign in.').waitFor()
    await offer.waitFor({ state: 'detached' })
    const name = await page.getByRole('button', { name: 'Settings' }).textContent()
    await settings(page, 'Profile')
    await signOut(page)
    await press(page, 'Passkey')
    await press(page, 'Use a passkey')
    await isInside(page)
    expect(await page.getByRole('button', { name: 'Settings' }).textContent()).toBe(name)
  })

  test('a lost passkey is replaced by a code to the verified address', async () => {
    const page = await visit()
    const authenticator = await addAuthenticator(page)
    await press(page, 'Passkey')
    await press(page, 'Create account')
    await isInside(page)
    await settings(page, 'Sign-in & security')
    await page.getByLabel('Email address').fill('kim@example.org')
    await press(page, 'Add email address')
    await page.getByLabel('6-digit code').waitFor()
    await page.getByLabel('6-digit code').fill(await codeFor('kim@example.org', 'adds this address'))
    await page.getByText('Verified', { exact: true }).waitFor()
    await signOut(page)
    await authenticator.forgetAll()

    await press(page, 'Passkey')
    await press(page, 'Lost your passkey?')
    await page.getByLabel('Email address').fill('kim@example.org')
    await press(page, 'Send code')
    await page.getByLabel('6-digit code').waitFor()
    await page.getByLabel('6-digit code').fill(await codeFor('kim@example.org', 'lets you make a new passkey'))
    await press(page, 'Create new passkey')
    await isInside(page)
    await settings(page, 'Sign-in & security')
    await page.getByText('kim@example.org').waitFor()
    await expect.poll(() => page.getByText(/^Created /).count()).toBe(2)
  })
})

/** A virtual authenticator that answers every request for a passkey at once. */
async function addAuthenticator(page: Page) {
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable', { enableUI: false })
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      defaultBackupEligibility: true,
      defaultBackupState: true,
    },
  })
  return { forgetAll: () => devtools.send('WebAuthn.clearCredentials', { authenticatorId }) }
}
