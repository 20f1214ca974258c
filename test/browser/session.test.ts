import type { BrowserContext, Page } from 'playwright-core'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Sessions } from '#server/domains/people/identity/model'
import { signIn } from '#test/support/wallet'
import { desktop, isLive, openPlaza } from './plaza.ts'

describe('the session of the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const press = (page: Page, name: string | RegExp) => page.getByRole('button', { name, exact: true }).click()
  const isInside = (page: Page) =>
    page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  const enter = async () => {
    const page = await plaza.visit(desktop)
    await press(page, 'Enter as guest')
    await isInside(page)
    return page
  }
  const stored = (page: Page) => page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))
  const sessionIn = async (context: BrowserContext) =>
    (await context.cookies()).find(({ name }) => name === 'app_session')
  const secret = /eyJ[\w-]+\.|[Tt]oken|0x[0-9a-f]{64}/

  test('this device is marked among those with access to direct messages', async () => {
    const page = await enter()
    await page.goto(`${plaza.url}/settings/devices`)
    const devices = page.getByRole('region', { name: 'Devices with access to direct messages' })
    await expect.poll(() => devices.getByRole('listitem').filter({ hasText: 'This device' }).count()).toBe(1)
  })

  test('M17: is the HttpOnly cookie alone; no token and no key can be read by scripts', async () => {
    const page = await enter()
    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    expect(await stored(page)).not.toMatch(secret)
    expect(await sessionIn(page.context())).toMatchObject({ httpOnly: true, sameSite: 'Strict', secure: true })
    const kept = await page.evaluate(
      () =>
        new Promise<{ extractable: boolean; fields: string[] }>((resolve) => {
          const opening = indexedDB.open('plaza')
          opening.onsuccess = () => {
            const asked = opening.result.transaction('secrets').objectStore('secrets').get('guest')
            asked.onsuccess = () =>
              resolve({ extractable: asked.result.key.extractable, fields: Object.keys(asked.result) })
          }
        }),
    )
    expect(kept).toEqual({ extractable: false, fields: ['key', 'iv', 'bytes'] })

    await page.reload()
    await isInside(page)
    await press(page, /Settings/)
    await press(page, 'Sign out')
    await press(page, 'Continue as guest')
    await isInside(page)
    expect(await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)).toBe(account)
  })

  test('M17: tokens and the key of an earlier version are migrated once, and deleted', async () => {
    const key = generatePrivateKey()
    const guest = privateKeyToAccount(key)
    const { sessionToken: token, refreshToken, address } = await signIn(plaza.url, guest)
    const page = await plaza.visit(desktop, async (fresh) => {
      const kept = JSON.stringify({ token, refreshToken, account: address, endedBy: null })
      await fresh.addInitScript(
        ([session = '', guestKey = '', guestAddress = '']) => {
          if (localStorage.getItem('planted')) return
          localStorage.setItem('planted', 'yes')
          localStorage.setItem('plaza:session', session)
          localStorage.setItem('plaza.guest-key', guestKey)
          localStorage.setItem('plaza.guest-address', guestAddress)
        },
        [kept, key, address],
      )
    })
    await isInside(page)
    await expect.poll(() => stored(page)).not.toMatch(secret)
    expect(await sessionIn(page.context())).toBeDefined()
    await page.reload()
    await isInside(page)
    await press(page, /Settings/)
    await press(page, 'Sign out')
    await press(page, 'Continue as guest')
    await isInside(page)
    expect(await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)).toBe(address)
  })

  test('M17: a sign-in in another tab applies to this tab too, and a sign-out ends both', async () => {
    const page = await enter()
    const other = await page.context().newPage()
    await other.goto(plaza.url)
    await isInside(other)
    await press(other, /Settings/)
    await press(other, 'Sign out')
    await page.getByRole('button', { name: /as guest/ }).waitFor()
  })

  test('M15: a link requested in another browser asks first, and names the account', async () => {
    const email = 'asker@example.org'
    const linkTo = async (asking: Page) => {
      const before = (await letters(email)).length
      await press(asking, 'Email')
      await asking.getByLabel('Email address').fill(email)
      await press(asking, 'Send a link instead')
      await asking.getByText('We sent a link to').waitFor()
      await expect.poll(async () => (await letters(email)).length).toBe(before + 1)
      return /(http\S+)/.exec((await letters(email))[0] ?? '')?.[1] ?? ''
    }
    const link = await linkTo(await plaza.visit(desktop))
    const visitor = await plaza.visit(desktop)
    await visitor.goto(link)
    await visitor.getByText('It was requested in another browser.').waitFor()
    expect(visitor.url()).not.toContain('token')
    await press(visitor, 'Cancel')
    await visitor.getByRole('button', { name: 'Enter as guest' }).waitFor()
    expect(await sessionIn(visitor.context())).toBeUndefined()
    await visitor.goto(link)
    await press(visitor, `Sign in as ${email}`)
    await isInside(visitor)

    const asker = await plaza.visit(desktop)
    await asker.goto(await linkTo(asker))
    await isInside(asker)
  })

  test('M08: when a call needs a fresh proof, the page asks for it and continues', async () => {
    const page = await enter()
    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    await Sessions.updateMany({ user_address: account }, { $set: { proven_at: new Date(Date.now() - 3_600_000) } })
    await press(page, /Settings/)
    await page.getByRole('tab', { name: 'Sign-in & security' }).click()
    const ask = async () => {
      await page.getByLabel('Email address').fill('prover@example.org')
      await press(page, 'Add email address')
      return page.getByRole('dialog', { name: 'Confirm it’s you' })
    }
    const dialog = await ask()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByText('Sign in again to do this').waitFor()
    expect(await letters('prover@example.org')).toEqual([])
    await (await ask()).getByRole('button', { name: 'Confirm as guest' }).click()
    await page.getByText('We sent a code to').waitFor()
    await vi.waitFor(async () => expect(await letters('prover@example.org')).toHaveLength(1), 10_000)
    await page.getByRole('dialog', { name: 'Settings' }).getByRole('button', { name: 'Close' }).click()
    await isLive(page)
    expect(await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)).toBe(account)
  })

  const letters = async (to: string): Promise<string[]> => {
    const answer = await (await fetch(`${plaza.url}/dev/mail.json`)).json()
    return (answer as { letters: { to: string; text: string }[] }).letters
      .filter((letter) => letter.to === to)
      .map(({ text }) => text)
  }

  test('O81: the page waits where it asked too often, and goes on by itself', async () => {
    const page = await enter()
    let asked = 0
    await page.route('**/api/auth/session', (route) => {
      asked += 1
      if (asked > 1) return route.continue()
      const json = { error: 'Too many requests', code: 'RATE_LIMIT_EXCEEDED', retryAfter: 2 }
      return route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json })
    })
    await page.reload()
    await page.getByRole('heading', { name: 'One moment' }).waitFor()
    await page.getByText(/Retrying in [12] s/).waitFor()
    await isInside(page)
    expect(asked).toBe(2)
  })

  test('O81: so does each part of a screen', async () => {
    const page = await enter()
    let isRefused = true
    const json = { error: 'Too many requests', code: 'RATE_LIMIT_EXCEEDED', retryAfter: 2 }
    for (const path of ['**/api/public/user?*', '**/members?*'])
      await page.route(path, (route) =>
        isRefused ? route.fulfill({ status: 429, headers: { 'Retry-After': '2' }, json }) : route.continue(),
      )
    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    for (const path of [`/profile/${account}`, '/rooms/alpha/members']) {
      isRefused = true
      await page.goto(plaza.url + path)
      await page.getByText(/Retrying in [12] s/).waitFor()
      expect(await page.getByText('Too many requests').count()).toBe(1)
      isRefused = false
      await page.getByText(/Retrying in/).waitFor({ state: 'detached' })
      await page
        .getByText('Nothing here yet')
        .or(page.getByRole('searchbox', { name: 'Search members' }))
        .first()
        .waitFor()
      expect(await page.getByRole('alert').count()).toBe(0)
    }
  })
})
