import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { accounts } from '#shared/api/people/accounts'
import { axeFaults, desktop, go, line, openPlaza, phone, say, trouble } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

const accountOf = (page: Page): Promise<string> =>
  page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
const openFriends = (page: Page) => go(page, '/friends')
const rowsIn = (page: Page, name: string) => page.getByRole('list', { name }).getByRole('listitem')

async function ask(page: Page, written: string): Promise<void> {
  await page.getByLabel('Username, name or address').fill(written)
  await page.keyboard.press('Enter')
}

test.each([
  ['desktop', desktop],
  ['phone', phone],
])(
  'somebody is asked by their address, declines, is asked again, accepts and is removed, on a %s',
  async (_name, device) => {
    const [one, two] = [await plaza.guest(device), await plaza.guest(device)]
    const address = await accountOf(two)
    await openFriends(one)
    await one.getByText('No friends yet').waitFor()
    expect(await axeFaults(one)).toEqual([])
    await ask(one, '@nobody_of_this_name')
    await one.getByRole('alert').getByText('No one is called').waitFor()
    await ask(one, address)
    await rowsIn(one, 'Sent requests')
      .getByRole('button', { name: /^Cancel/ })
      .waitFor()

    await openFriends(two)
    const asking = rowsIn(two, 'Friend requests')
    await asking.getByRole('button', { name: /^Decline/ }).click()
    await asking.waitFor({ state: 'detached' })
    await rowsIn(one, 'Sent requests').waitFor({ state: 'detached' })
    await ask(one, address)
    expect(await axeFaults(one)).toEqual([])
    await asking.getByRole('button', { name: /^Accept/ }).focus()
    await two.keyboard.press('Enter')
    for (const page of [one, two]) await rowsIn(page, 'All friends').waitFor()
    expect(await axeFaults(two)).toEqual([])

    await rowsIn(one, 'All friends')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await one
      .getByRole('dialog', { name: /^Remove/ })
      .getByRole('button', { name: 'Remove', exact: true })
      .click()
    for (const page of [one, two]) await page.getByText('No friends yet').waitFor()
    await plaza.settle()
  },
)

test('a friend is online, is written to, and a request is told of above the rooms and taken back; what changed while somebody was away is read', async () => {
  const [one, two] = [await plaza.guest(), await plaza.guest()]
  await openFriends(one)
  await ask(one, await accountOf(two))
  const place = two.getByRole('navigation', { name: 'Places' }).getByRole('link', { name: /^Friends/ })
  await place.getByText('1 request').waitFor()
  await rowsIn(one, 'Sent requests')
    .getByRole('button', { name: /^Cancel/ })
    .click()
  await place.getByText('1 request').waitFor({ state: 'detached' })
  await ask(one, await accountOf(two))
  await place.click()
  await rowsIn(two, 'Friend requests')
    .getByRole('button', { name: /^Accept/ })
    .click()
  await rowsIn(one, 'All friends').getByText('online').waitFor()
  // Whatever the browser has kept of the list.
  await two.reload()
  await rowsIn(two, 'All friends').waitFor()
  await rowsIn(one, 'All friends')
    .getByRole('button', { name: /^Message/ })
    .click()
  await expect.poll(() => one.url()).toContain('/rooms/dm')

  await two.context().setOffline(true)
  await trouble(two).getByText('Offline.').waitFor()
  await openFriends(one)
  await rowsIn(one, 'All friends')
    .getByRole('button', { name: /^Remove/ })
    .click()
  await one
    .getByRole('dialog', { name: /^Remove/ })
    .getByRole('button', { name: 'Remove', exact: true })
    .click()
  await one.getByText('No friends yet').waitFor()
  expect(await rowsIn(two, 'All friends').count()).toBe(1)
  await two.context().setOffline(false)
  await two.getByText('No friends yet').waitFor()
  await plaza.settle()
})

test('friends that could not be loaded are asked for again', async () => {
  const list = /\/api\/friends\?/
  const page = await plaza.visit(desktop, async (fresh) => {
    await fresh.route(list, (route) =>
      route.fulfill({ status: 503, json: { error: { code: 'SERVICE_UNAVAILABLE', message: 'Away' } } }),
    )
  })
  await page.getByRole('button', { name: 'Enter as guest' }).click()
  await page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  await openFriends(page)
  const again = page.getByRole('button', { name: 'Try again' })
  await again.waitFor()
  await page.unroute(list)
  await again.click()
  await page.getByText('No friends yet').waitFor()
  await plaza.settle()
})

test('who has both names is shown by the display name, and the card has the username beside it', async () => {
  const [page, writer] = [await plaza.guest(), await plaza.guest()]
  const word = randomUUID().slice(0, 8)
  const [display_name, username] = [`Nora ${word}`, `n_${word}`]
  await plaza.node.callAs(await accountOf(writer), accounts.updateProfile, { display_name, username })
  await say(writer, `Said ${word}`)
  await line(page, `Said ${word}`).getByText(display_name).waitFor()
  await line(page, `Said ${word}`).locator('.messages__face').click()
  await page.getByRole('dialog', { name: display_name }).getByText(`@${username}`, { exact: true }).waitFor()
  expect(await axeFaults(page)).toEqual([])
  await plaza.settle()
})

test('the card of an account that is to be deleted says that it is not available, and offers nothing that would be refused', async () => {
  const [one, two] = [await plaza.guest(), await plaza.guest()]
  await say(two, 'I am leaving')
  await line(one, 'I am leaving').waitFor()
  const status = await two.evaluate(
    async (confirm) => {
      const body = JSON.stringify({ messages: 'unlink', confirm })
      const headers = { 'content-type': 'application/json' }
      return (await fetch('/api/account', { method: 'DELETE', headers, body })).status
    },
    await accountOf(two),
  )
  expect(status).toBe(200)
  await line(one, 'I am leaving').locator('.messages__face').click()
  const card = one.getByRole('dialog')
  await card.getByText('This account is not available.').waitFor()
  await card.getByRole('button', { name: 'Report' }).waitFor()
  for (const name of ['Message', 'Call', 'Voice call', 'Add friend'])
    expect(await card.getByRole('button', { name, exact: true }).count(), name).toBe(0)
  expect(await card.getByRole('link', { name: 'Profile' }).count()).toBe(0)
  expect(await axeFaults(one)).toEqual([])
  await plaza.settle()
})
