import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fakeChain } from '#server/ports/chain/fake'
import { rooms } from '#shared/api/rooms/rooms'
import { linkTo, type PageName, pageAt, pagePaths } from '#shared/kit/pages'
import { personAt } from '#test/support/people'
import { axeFaults, field, go, isLive, line, openPlaza, phone, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
const chain = fakeChain(8453)
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true, services: { chains: new Map([[8453, chain]]) } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const nobody = `0x${'0'.repeat(40)}`
const params = {
  room: 'alpha',
  panel: 'members',
  stream: 'none',
  address: nobody,
  agent: 'none',
  conversation: 'none',
  token: 'none',
  code: 'ABCDEF',
  slug: 'none',
  part: 'people',
  section: 'devices',
  tab: 'queue',
  setting: 'overview',
  seq: '1',
}
const paths = (Object.keys(pagePaths) as PageName[]).map((name) => [name, linkTo(name, params as never)] as const)

const main = (page: Page) => page.locator('main').first()
const nowhere = (page: Page) => page.getByRole('heading', { name: 'Page not found' })

test('each page has a path of its own, at which the server answers with it', async () => {
  for (const [name, path] of paths) {
    expect(pageAt(path)?.name).toBe(name)
    const answer = await fetch(plaza.url + path)
    expect([answer.status, answer.headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'")
  }
})

test('each page opens at its path on a fresh visit, and again by back and forward', async () => {
  const page = await plaza.guest()
  for (const [name, path] of paths) {
    await page.goto(plaza.url + path)
    await main(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await nowhere(page).count(), name).toBe(0)
  }
  await page.goto(`${plaza.url}/friends`)
  await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Calls' }).click()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
  await page.goForward()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
})

test.each([
  ['/rooms/alpha', 'Alpha', null],
  ['/rooms/alpha/moderation/queue', 'Alpha', null],
  ['/rooms/alpha/settings/overview', 'Room settings', null],
  ['/rooms', 'Channels', null],
  ['/rooms/new', 'New room', null],
  ['/settings/devices', 'Settings', null],
  ['/live/new', 'Go live', 'Go live'],
  ['/calls', 'Calls', 'Calls'],
  ['/friends', 'Friends', 'Friends'],
  ['/starred', 'Starred messages', 'Starred messages'],
  ['/profile', 'Your profile', 'Your profile'],
  ['/agents', 'Agents', 'Agents'],
  ['/agents/new', 'New agent', null],
])(
  '%s has the title %s on a fresh visit, and the focus in its heading, its field or its dialog',
  async (path, title, heading) => {
    const page = await plaza.guest()
    await page.goto(plaza.url + path)
    await expect.poll(() => page.title()).toMatch(new RegExp(`^(\\(\\d+\\+?\\) )?${title} · Plaza$`))
    if (heading) await page.locator('h1:focus', { hasText: heading }).waitFor()
    else await page.locator('#composer:focus, main input:focus, dialog[open] :focus').first().waitFor()
    await go(page, '/calls')
    await page.locator('h1:focus', { hasText: 'Calls' }).waitFor()
    await page.goBack()
    if (heading) await page.locator('h1:focus', { hasText: heading }).waitFor()
  },
)

test('back closes a dialog that has an address, over what was shown before it', async () => {
  const page = await plaza.guest()
  await go(page, '/rooms/alpha/members')
  const members = page.getByRole('complementary', { name: 'Members' })
  await members.waitFor()
  await page.getByRole('button', { name: /Settings$/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.getByRole('tab', { name: 'Devices' }).click()
  await expect.poll(() => page.url()).toBe(`${plaza.url}/settings/devices`)
  await members.waitFor()
  await page.goBack()
  await settings.waitFor({ state: 'detached' })
  expect(page.url()).toBe(`${plaza.url}/rooms/alpha/members`)
  await page.goForward()
  await settings.getByRole('tab', { name: 'Devices', selected: true }).waitFor()
  // A second press in the same moment goes no further.
  await settings.evaluate((dialog) => {
    for (const _ of [1, 2]) dialog.dispatchEvent(new Event('cancel', { cancelable: true }))
  })
  await settings.waitFor({ state: 'detached' })
  await expect.poll(() => page.url()).toBe(`${plaza.url}/rooms/alpha/members`)
  await page.getByRole('button', { name: 'Browse channels' }).click()
  await page.getByRole('dialog', { name: 'Channels' }).getByRole('link', { name: 'Livestreams' }).click()
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor()
  expect(page.url()).toBe(`${plaza.url}/live`)
  await page.goBack()
  await members.waitFor()
  expect(page.url()).toBe(`${plaza.url}/rooms/alpha/members`)
  await page.goto(`${plaza.url}/settings/notifications`)
  await settings.getByRole('tab', { name: 'Notifications', selected: true }).waitFor()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.url()).toBe(`${plaza.url}/rooms/alpha`)
})

test('the address of a message opens its room at it', async () => {
  const page = await plaza.guest()
  await page.locator('.messages__message').first().waitFor()
  const { messages } = await page.evaluate(async () => {
    const answer = await fetch('/api/rooms/alpha/messages?limit=3')
    return (await answer.json()) as { messages: { id: string; seq: number }[] }
  })
  const { id = '', seq = 0 } = messages[0] ?? {}
  await page.goto(`${plaza.url}/rooms/alpha/messages/${seq}`)
  await page.locator(`#m-${id}.marked`).waitFor()
  await expect.poll(() => page.locator(`#m-${id}`).isVisible()).toBe(true)
})

test('the address of a message says to a visitor that it opens after the sign-in, and then it does', async () => {
  const answer = await fetch(`${plaza.url}/api/rooms/alpha/messages?limit=3`)
  const { messages } = (await answer.json()) as { messages: { id: string; seq: number }[] }
  const { id = '', seq = 0 } = messages[0] ?? {}
  const page = await plaza.visit()
  await page.goto(`${plaza.url}/rooms/alpha/messages/${seq}`)
  await page.getByText('This link opens a message once you are signed in.').waitFor()
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: 'Enter as guest' }).click()
  await page.locator(`#m-${id}.marked`).waitFor()
})

test('a path that is none says so with a way on, by 404', async () => {
  const page = await plaza.guest()
  for (const path of ['/nowhere', '/rooms/alpha/nothing', '/rooms/nothing', '/settings/nothing', '/friends/of/mine']) {
    const answer = await page.goto(plaza.url + path)
    expect(answer?.status()).toBe(404)
    await nowhere(page).waitFor()
  }
  await page.getByRole('link', { name: 'Go to Plaza' }).click()
  await field(page).waitFor()
  const data = await fetch(`${plaza.url}/nowhere`, { headers: { accept: 'application/json' } })
  expect([data.status, data.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  expect((await fetch(`${plaza.url}/api/nowhere`, { headers: { accept: 'text/html' } })).status).toBe(404)
})

test.each([
  ['#/', '/rooms/alpha'],
  ['#/alpha', '/rooms/alpha'],
  ['#/alpha/members', '/rooms/alpha/members'],
  ['#/alpha/nothing', '/rooms/alpha'],
  ['#/channel%3Anone', '/rooms/channel:none'],
  ['#/live', '/live'],
  ['#/live/none', '/live/none'],
  ['#/stream%3Anone/members', '/live/none/members'],
  ['#/go-live', '/live/new'],
  ['#/calls', '/calls'],
  ['#/friends', '/friends'],
  ['#/starred', '/starred'],
  ['#/profile', '/profile'],
  [`#/profile/${nobody}`, `/profile/${nobody}`],
  ['#/agents', '/agents'],
  ['#/agents/new', '/agents/new'],
  ['#/agents/none', '/agents/none/chat'],
  ['#/agents/none/edit', '/agents/none/edit'],
])('an address of earlier versions, %s, leads on to %s', async (hash, path) => {
  const page = await plaza.guest()
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await expect.poll(() => page.url()).toBe(plaza.url + path)
  await page.goto('about:blank')
  await page.goto(`${plaza.url}/${hash}`)
  await expect.poll(() => page.url()).toBe(plaza.url + path)
  await main(page).waitFor()
})

test.each([
  ['/rooms/alpha/moderation/words', '/rooms/alpha/settings/words'],
  ['/rooms/alpha/moderation/rules', '/rooms/alpha/settings/permissions'],
  ['/live/none/moderation/rules', '/live/none/settings/permissions'],
])('a part of the desk that moved, %s, leads on to %s', async (former, path) => {
  const page = await plaza.guest()
  await page.goto(plaza.url + former)
  await expect.poll(() => page.url()).toBe(plaza.url + path)
})

test('who signs in comes to the page that was asked for', async () => {
  for (const path of ['/friends', '/#/friends']) {
    const page = await plaza.visit()
    await page.goto(plaza.url + path)
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
    expect(page.url()).toBe(`${plaza.url}/friends`)
  }
})

test('a public room at its address shows strangers what it is and what was said, and lets them in', async () => {
  const [host, page] = [await plaza.guest(), await plaza.visit(phone)]
  const red: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') red.push(message.text())
  })
  const name = `Harbour ${randomUUID().slice(0, 8)}`
  const channel = await host.evaluate(async (named) => {
    const made = await fetch('/api/channels', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: named, description: 'Boats and tides' }),
    })
    return ((await made.json()) as { channel: { id: string } }).channel.id
  }, name)
  await go(host, `/rooms/channel:${channel}`)
  await isLive(host)
  await say(host, 'The tide is in')
  await line(host, 'The tide is in').and(host.locator('.sent')).waitFor()

  await page.goto(`${plaza.url}/rooms/channel:${channel}`)
  await page.getByRole('heading', { name, level: 1 }).waitFor()
  await page.getByText('Boats and tides', { exact: true }).waitFor()
  await page.getByText('Members: 1', { exact: true }).waitFor()
  await page
    .getByRole('region', { name: `${name}, live` })
    .getByText('The tide is in')
    .waitFor()
  expect(await page.title()).toBe(`${name} · Plaza`)
  expect(await axeFaults(page)).toEqual([])
  expect(red).toEqual([])
  await page.getByRole('button', { name: 'Enter as guest' }).click()
  await page.getByRole('button', { name: 'Join this room' }).click()
  await isLive(page)
  expect(new URL(page.url()).pathname).toBe(`/rooms/channel:${channel}`)
})

test('a room for holders of a token shows strangers its facts, and asks for no message of it', async () => {
  const holder = await personAt(plaza.url, 'holder of herons')
  const tokenAddress = `0x${'7a'.repeat(20)}` as const
  const owner = holder.account as typeof tokenAddress
  chain.deploy(tokenAddress, { token: { name: 'Heron', symbol: 'HRN', decimals: 2, owner } })
  const founded = { tokenAddress, tokenChainId: 8453, name: 'Herons only', description: 'Reeds and fish' }
  const { room } = await holder.does('rest', rooms.createTokenRoom, founded)
  const page = await plaza.visit()
  const red: string[] = []
  page.on('console', (message) => {
    if (message.type() === 'error') red.push(message.text())
  })
  await page.goto(`${plaza.url}/rooms/token:${room.id}`)
  await page.getByRole('heading', { name: 'Herons only', level: 1 }).waitFor()
  await page.getByText('Reeds and fish', { exact: true }).waitFor()
  await page.locator('.room-preview__room-preview-lines li').first().waitFor()
  expect(red).toEqual([])
})

test('the chosen section of the settings is in view on a phone', async () => {
  const page = await plaza.guest(phone)
  const tab = page.getByRole('dialog').getByRole('tab', { selected: true })
  const isInView = () =>
    tab.evaluate((element) => {
      const { left, right } = element.getBoundingClientRect()
      return left >= 0 && right <= innerWidth
    })
  for (const section of ['data', 'profile']) {
    await page.goto(`${plaza.url}/settings/${section}`)
    await expect.poll(isInView).toBe(true)
  }
})

test('back closes one dialog after the other, and leads on once none is open', async () => {
  const page = await plaza.guest()
  await go(page, '/calls')
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  await go(page, '/rooms/alpha')
  await isLive(page)
  const said = `Look at me ${randomUUID()}`
  await say(page, said)
  const path = () => new URL(page.url()).pathname
  const dialogs = page.getByRole('dialog')

  const openCard = async () => {
    await line(page, said).locator('.messages__who').dispatchEvent('click')
    await expect.poll(() => dialogs.count()).toBe(1)
    await expect.poll(() => page.evaluate(() => history.state?.layers)).toBe(1)
  }
  await openCard()
  await page.goBack()
  await expect.poll(() => dialogs.count()).toBe(0)
  expect(path()).toBe('/rooms/alpha')

  // Above a dialog with an address, and above one without.
  await page.getByRole('button', { name: /Settings$/ }).click()
  const settings = page.getByRole('dialog', { name: 'Settings' })
  await settings.waitFor()
  await page.keyboard.press('Control+k')
  await expect.poll(() => dialogs.count()).toBe(2)
  await expect.poll(() => page.evaluate(() => history.state?.layers)).toBe(1)
  await page.goBack()
  await expect.poll(() => dialogs.count()).toBe(1)
  await settings.waitFor()
  expect(path()).toMatch(/^\/settings/)
  await page.goBack()
  await expect.poll(() => dialogs.count()).toBe(0)
  expect(path()).toBe('/rooms/alpha')

  // What was closed in another way is no step, and neither is what a dialog led on from.
  await openCard()
  await page.keyboard.press('Escape')
  await expect.poll(() => page.evaluate(() => history.state?.layers ?? 0)).toBe(0)
  await page.keyboard.press('Control+k')
  await page.getByRole('combobox').fill('friends')
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
  await page.goBack()
  await field(page).waitFor()
  expect(path()).toBe('/rooms/alpha')
  await page.goBack()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
})
