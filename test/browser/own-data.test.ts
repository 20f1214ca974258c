import { afterAll, beforeAll, expect, test } from 'vitest'
import { isGoneAccount } from '#server/domains/people/accounts/found'
import { axeFaults, field, go, isLive, line, openPlaza, say, trouble } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { ERASURE_GRACE_DAYS: '0' } })
})
afterAll(() => plaza.close())

test('a copy of one’s data is made and downloaded in the settings', async () => {
  const page = await plaza.guest()
  await page.getByRole('button', { name: /Settings/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Your data' }).click()
  await settings.getByRole('button', { name: 'Request a copy' }).click()
  await settings.getByText(/prepared on .*It is deleted after 7 days/).waitFor()
  await settings.getByText(/^You can request a new copy after /).waitFor()
  const again = settings.getByRole('button', { name: 'Request a new copy' })
  expect(await again.getAttribute('aria-disabled')).toBe('true')
  expect(await axeFaults(page)).toEqual([])
  const asked = page.waitForRequest(/\/archives\//)
  await settings.getByRole('button', { name: 'Download', exact: true }).click()
  expect((await asked).method()).toBe('GET')
  await plaza.settle()
})

test('an account is deleted only once its name is typed', async () => {
  const page = await plaza.guest()
  await go(page, '/settings/data')
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('button', { name: 'Delete account' }).click()
  const form = page.getByRole('form', { name: 'Delete account' })
  const typed = form.getByRole('textbox', { name: /^Type .* to confirm$/ })
  const erase = form.getByRole('button', { name: 'Delete account' })
  await typed.fill('somebody else')
  expect(await erase.isDisabled()).toBe(true)
  const label = await form.getByText(/^Type .* to confirm$/).innerText()
  await typed.fill(label.replace(/^Type | to confirm$/g, '').replace(/[\u2066-\u2069]/g, ''))
  await expect.poll(() => erase.isEnabled()).toBe(true)
  expect(await axeFaults(page)).toEqual([])
  await plaza.settle()
})

/** Two guests in a conversation, and what deletes the account of the second. */
async function conversing() {
  const pages = [await plaza.guest(), await plaza.guest()] as const
  const [stays, leaves] = pages
  const accounts = await Promise.all(
    pages.map((page) =>
      page.evaluate(async () => {
        const { user } = (await (await fetch('/api/auth/session')).json()) as { user: { wallet_address: string } }
        return user.wallet_address
      }),
    ),
  )
  for (const page of pages) {
    await go(page, `/rooms/${encodeURIComponent(`dm:${accounts.toSorted().join('~')}`)}`)
    await field(page).waitFor()
    await isLive(page)
  }
  await say(leaves, 'Goodbye')
  await line(stays, 'Goodbye').waitFor()
  const title = stays.locator('.room-head h1')
  await expect.poll(() => title.innerText()).not.toBe('Direct message')
  const leave = async () => {
    const status = await leaves.evaluate(async (confirm) => {
      const body = JSON.stringify({ messages: 'unlink', confirm })
      const headers = { 'content-type': 'application/json' }
      return (await fetch('/api/account', { method: 'DELETE', headers, body })).status
    }, accounts[1])
    expect(status).toBe(200)
    await expect.poll(() => isGoneAccount(accounts[1] ?? '')).toBe(true)
  }
  return { stays, title, name: await title.innerText(), leave }
}

test('a message that is sent after the other account was deleted says so', async () => {
  const { stays, leave } = await conversing()
  await stays.context().setOffline(true)
  await trouble(stays).getByText('Offline.').waitFor()
  await say(stays, 'Too late')
  await line(stays, 'Too late').getByText('Waiting for connection').waitFor()
  await leave()
  await stays.context().setOffline(false)
  await line(stays, 'Too late').getByText('Not sent. This account was deleted').waitFor()
  expect(await axeFaults(stays)).toEqual([])
  await plaza.settle()
})

test('a deleted account has no name in the list of rooms and in the switcher, though its conversation is not open', async () => {
  const { stays, name, leave } = await conversing()
  await go(stays, '/rooms/alpha')
  await stays.reload()
  await isLive(stays)
  const row = stays.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').filter({ hasText: name })
  await row.waitFor()
  const renamed = stays.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name: /Deleted user/ })
  await leave()
  await renamed.waitFor()
  expect(await row.count()).toBe(0)
  await stays.keyboard.press('Control+k')
  await stays.keyboard.type('deleted')
  await stays.getByRole('option', { name: /Deleted user/ }).waitFor()
  await plaza.settle()
})

test('a conversation with a deleted account shows no name, stays readable, and takes no message', async () => {
  const { stays, title, name, leave } = await conversing()
  await leave()
  await stays.getByPlaceholder('This account was deleted').waitFor()
  expect(await field(stays).isDisabled()).toBe(true)
  await expect.poll(() => title.innerText()).toBe('Deleted user')
  await line(stays, 'Goodbye').getByText('Deleted user').waitFor()
  expect(await stays.getByText(name).count()).toBe(0)
  expect(await axeFaults(stays)).toEqual([])
  await plaza.settle()
})
