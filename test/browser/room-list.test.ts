import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { rooms } from '#shared/api/rooms/rooms'
import { personAt } from '#test/support/people'
import { becomeModerator, desktop, go, isLive, line, openPlaza, phone, pressInHeader, say } from './plaza.ts'

describe('the list of rooms', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const rows = (page: Page) => page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link')
  const names = (page: Page) => rows(page).locator('.rooms__room-name').allInnerTexts()
  const five = async (page: Page) => {
    await page.addLocatorHandler(page.locator('dialog[open]'), () => page.keyboard.press('Escape'))
    await expect.poll(() => rows(page).count(), { timeout: 30_000 }).toBe(5)
  }
  const enter = async (page: Page, name: string) => {
    await rows(page).filter({ hasText: name }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await isLive(page)
  }
  const byName = ['Alpha', 'Ask anything', 'No links please', 'Show and tell', 'Slow lane']

  test('M70: a new guest has nothing unread, and rooms are sorted by name, not by activity', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await five(page)
    await five(other)
    expect(await page.locator('.rooms__badge').count()).toBe(0)
    await enter(other, 'Show and tell')
    await say(other, `News ${randomUUID()}`)
    await rows(page).filter({ hasText: 'Show and tell' }).locator('.rooms__badge').waitFor()
    expect(await rows(page).locator('.rooms__badge').first().innerText()).toMatch(/^1/)
    expect(await names(page)).toEqual(byName)
  })

  test('M70: unread rooms are first if that order is chosen, and no room moves under the pointer or the focus', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await five(page)
    await five(other)
    await page.getByRole('button', { name: 'Unread first' }).click()
    await rows(page).first().hover()
    await enter(other, 'Show and tell')
    await say(other, `More ${randomUUID()}`)
    const row = rows(page).filter({ hasText: 'Show and tell' })
    await row.locator('.rooms__badge').waitFor()
    expect(await names(page)).toEqual(byName)

    await page.mouse.move(900, 300)
    await page.getByRole('textbox', { name: 'Message', exact: true }).focus()
    await expect.poll(async () => (await names(page))[0]).toBe('Show and tell')
    await rows(page).first().focus()
    await enter(other, 'No links please')
    await say(other, `Again ${randomUUID()}`)
    await rows(page).filter({ hasText: 'No links please' }).locator('.rooms__badge').waitFor()
    expect((await names(page))[0]).toBe('Show and tell')
    await page.reload()
    await five(page)
    expect((await names(page)).slice(0, 2)).toEqual(['No links please', 'Show and tell'])
  })

  test('M70: people without a name are shown by a generated one, not by an id', async () => {
    const page = await plaza.visit({ ...desktop }, async (fresh) => {
      await fresh.route('**/api/user/profile', (route) => route.abort())
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await five(page)
    const text = `Who am I ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    const other = await plaza.guest()
    await line(other, text).waitFor()
    const name = await other.locator('.messages__message', { hasText: text }).locator('.messages__who').innerText()
    expect(name).toMatch(/^[A-Z][a-z]+ [A-Z][a-z]+ \d\d$/)
    expect(await page.locator('.sidebar__me strong').innerText()).toBe(name)
    await go(other, '/rooms/alpha/members')
    const member = other.locator('.members-panel__member', { hasText: name })
    await member.waitFor()
    expect(await member.getAttribute('title')).toMatch(/^0x[0-9a-f]{40}$/)
    expect(await other.locator('body').innerText()).not.toMatch(/0x[0-9a-f]|email:|passkey:/)
  })

  test('archived rooms are asked for once, and again when a room has left the list', async () => {
    let asked = 0
    const page = await plaza.visit(desktop, async (fresh) => {
      fresh.on('request', (request) => {
        if (request.url().includes('archived=true')) asked += 1
      })
      fresh.on('websocket', (socket) =>
        socket.on('framesent', ({ payload }) => {
          if (payload.toString().includes('"archived":true')) asked += 1
        }),
      )
    })
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await five(page)
    const account = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    const word = randomUUID().slice(0, 8)
    const owner = await personAt(plaza.url, word)
    const { channel } = await owner.does('rest', rooms.createChannel, { name: `Visited ${word}` })
    const room = { type: 'channel', id: channel.id } as const
    const row = rows(page).filter({ hasText: word })
    await plaza.node.callAs(account, rooms.join, { room })
    await row.waitFor()
    await plaza.node.callAs(account, rooms.leave, { room })
    await row.waitFor({ state: 'detached' })
    await expect.poll(() => asked).toBe(2)
  })

  test('M70: the offer to keep the account is one line, and every icon has a label', async () => {
    const page = await plaza.guest()
    const offer = page.getByRole('complementary', { name: 'Add a passkey' })
    await offer.waitFor()
    expect((await offer.boundingBox())?.height).toBeLessThan(60)
    for (const panel of ['', '/members', '/search']) {
      await go(page, `/rooms/alpha${panel}`)
      const untold = page.locator('.icon-button:not([title]), .send:not([title])')
      expect(await untold.evaluateAll((found) => found.map(({ outerHTML }) => outerHTML))).toEqual([])
    }
  })

  test('N58: previews follow what is said and edited at once, in words, with who said it', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest(phone)]
    await five(page)
    const name = await page.locator('.sidebar__me strong').innerText()
    await go(page, '/rooms/alpha')
    const preview = (of: Page) => rows(of).filter({ hasText: 'Show and tell' }).locator('.rooms__room-last')
    let reloads = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/api/user/rooms')) reloads += 1
    })
    await go(other, '/')
    await enter(other, 'Show and tell')
    const [first, second] = [randomUUID().slice(0, 8), randomUUID().slice(0, 8)]
    await say(other, `**${first}** words`)
    const author = other.locator('.messages__message', { hasText: first }).locator('.messages__who')
    const otherName = await author.innerText()
    await expect.poll(() => preview(page).innerText(), { timeout: 4_000 }).toBe(`${otherName}: ${first} words`)

    await other.keyboard.press('ArrowUp')
    await other.keyboard.press('ControlOrMeta+A')
    await other.keyboard.type(`*${second}*`)
    await other.keyboard.press('Enter')
    await expect.poll(() => preview(page).innerText(), { timeout: 4_000 }).toBe(`${otherName}: ${second}`)
    await other.getByRole('button', { name: 'Back to the rooms' }).click()
    expect(await preview(other).innerText()).toBe(`You: ${second}`)

    await enter(page, 'Show and tell')
    await say(page, 'mine **too**')
    await expect.poll(() => preview(page).innerText(), { timeout: 4_000 }).toBe('You: mine too')
    await expect.poll(() => preview(other).innerText(), { timeout: 4_000 }).toBe(`${name}: mine too`)
    expect(reloads).toBe(0)
  })

  test('N58: on a phone moderators see how much waits for a decision, before they open the queue', async () => {
    const [page, reporter] = [await plaza.guest(phone), await plaza.guest()]
    const text = `Look at this ${randomUUID()}`
    await say(reporter, text)
    const shield = page.locator('.room-head .rooms__badge.in-queue:visible')
    const count = async () =>
      Number.parseInt((await shield.getAttribute('data-count', { timeout: 1_000 }).catch(() => null)) ?? '0', 10)
    expect(await shield.count()).toBe(0)
    await go(page, '/rooms/alpha')
    await becomeModerator(page)
    await page.getByRole('button', { name: 'Close this panel' }).click()
    const before = await count()
    await line(page, text).locator('.messages__who').click()
    await page.getByRole('button', { name: 'Report' }).click()
    await page.getByRole('button', { name: 'Send report' }).click()
    await page.keyboard.press('Escape')
    await expect.poll(count).toBe(before + 1)
    await pressInHeader(page, 'Moderation')
    await page.getByRole('tab', { name: /^Queue/ }).click()
    await page.getByRole('tabpanel').getByRole('button', { name: 'Dismiss' }).first().click()
    await expect.poll(count).toBe(before)
  })
})
