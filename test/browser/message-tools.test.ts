import { randomUUID } from 'node:crypto'
import type { Locator, Page, WebSocketRoute } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, becomeModerator, desktop, isLive, line, openPlaza, phone, say } from './plaza.ts'

describe('what can be done with a message', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const toolbar = (page: Page) => page.getByRole('toolbar', { name: 'Message' })
  const menu = (page: Page) => page.getByRole('menu', { name: 'More' })
  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }
  /** What the open menu offers, with a rule between its groups. */
  const offered = (page: Page) =>
    menu(page)
      .locator(':scope > *')
      .evaluateAll((all) =>
        all.map((one) => (one.matches('hr') ? '—' : (one.querySelector('span.grow')?.textContent ?? ''))),
      )

  test('N52: the toolbar of an own message is there while it is sent, and stays when it is confirmed', async () => {
    const page = await plaza.guest()
    const answers = await holdAnswers(page)
    await page.reload()
    await isLive(page)
    answers.hold()
    const text = `Held ${randomUUID()}`
    await say(page, text)
    await line(page, text).getByText('Sending').waitFor()
    await line(page, text).getByText(text).hover()
    const more = line(page, text).getByRole('button', { name: 'More' })
    await more.waitFor()
    expect(await line(page, text).getByRole('button', { name: 'Reply' }).getAttribute('aria-disabled')).toBe('true')
    await more.click()
    expect(await offered(page)).toEqual(['Copy text'])
    await toolbar(page).evaluate((element) => element.setAttribute('data-known', 'yes'))

    answers.release()
    await line(page, text).and(page.locator('.sent')).waitFor()
    await page.locator('.message-tools__tools [data-known]').waitFor()
    await menu(page).getByRole('menuitem', { name: 'Edit' }).waitFor()
    expect(await offered(page)).toEqual(['Edit', 'Copy text', 'Copy link', 'Star', '—', 'Delete'])
    await page.keyboard.press('Escape')
    await menu(page).waitFor({ state: 'detached' })
    await line(page, text).getByRole('button', { name: 'Reply' }).and(page.locator(':not([aria-disabled])')).waitFor()
  })

  test('the link of a message opens its room at it, for another, too', async () => {
    const page = await plaza.guest()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: plaza.url })
    const text = await speak(page)
    await line(page, text).hover()
    await line(page, text).getByRole('button', { name: 'More' }).click()
    await menu(page).getByRole('menuitem', { name: 'Copy link' }).click()
    await page.getByText('Link copied.').waitFor()
    const link = await page.evaluate(() => navigator.clipboard.readText())
    const other = await plaza.guest(phone)
    await other.goto(link)
    await line(other, text).and(other.locator('.marked')).waitFor()
  })

  test('N52: a message that waits for the connection has its toolbar by keyboard, too', async () => {
    const page = await plaza.guest()
    await page.getByRole('button', { name: 'Drop my connection' }).click()
    const text = `Waits ${randomUUID()}`
    await say(page, text)
    await line(page, text).getByText('Waiting for connection').waitFor()
    await line(page, text).focus()
    await page.keyboard.press('Tab')
    await toolbar(page).locator(':focus').waitFor()
    await line(page, text).getByRole('button', { name: 'More' }).press('Enter')
    expect(await offered(page)).toEqual(['Copy text'])
  })

  test('N52: what a moderator is offered moves nothing, and dangerous acts are apart', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(page)
    for (let at = 0; at < 3; at++) await speak(other)
    const said = await speak(other)
    await line(page, said).waitFor()
    const places = () =>
      page
        .locator('.timeline__rows > li')
        .evaluateAll((all) => all.map((row) => [row.getBoundingClientRect().top, row.getBoundingClientRect().height]))
    await page.mouse.move(1, 1)
    const before = await places()
    await line(page, said).hover()
    await toolbar(page).waitFor()
    expect(await toolbar(page).count()).toBe(1)
    const primary = await toolbar(page)
      .getByRole('button')
      .evaluateAll((all) => all.map((one) => one.ariaLabel))
    expect(primary).toEqual(['React', 'Reply', 'Warn', 'Mute 1 h', 'More'])
    expect(await places()).toEqual(before)

    await line(page, said).getByRole('button', { name: 'More' }).click()
    expect(await places()).toEqual(before)
    const all = await offered(page)
    expect(all.slice(all.lastIndexOf('—') + 1)).toEqual(['Purge messages', 'Ban', 'Delete'])
    const isGrave = await menu(page)
      .getByRole('menuitem')
      .evaluateAll((items) => items.filter((one) => one.matches('.grave')).map((one) => one.textContent))
    expect(isGrave).toEqual(['Purge messages', 'BanB', 'DeleteD'])
    expect(await axeFaults(page)).toEqual([])

    await line(page, said).getByText(said).hover({ force: true })
    await page.mouse.move(5, 5)
    await menu(page).waitFor()
  })

  test('N52: arrow keys and letters walk a menu; its button, Tab and Escape close it', async () => {
    const page = await plaza.guest()
    const row = line(page, await speak(page))
    const [react, more] = ['React', 'More'].map((name) => row.getByRole('button', { name })) as [Locator, Locator]
    const reactions = page.getByRole('menu', { name: 'Reactions' })
    const isAt = (at: number) => reactions.getByRole('menuitem').nth(at).and(page.locator(':focus')).waitFor()
    await row.focus()
    await react.press('Enter')
    await isAt(0)
    for (const [key, at] of [
      ['ArrowRight', 1],
      ['ArrowDown', 2],
      ['ArrowLeft', 1],
      ['End', -1],
      ['ArrowRight', 0],
      ['ArrowUp', -1],
      ['Home', 0],
    ] as const) {
      await page.keyboard.press(key)
      await isAt(at)
    }
    await page.keyboard.press('Tab')
    await reactions.waitFor({ state: 'detached' })
    await row.getByRole('button', { name: 'Reply' }).and(page.locator(':focus')).waitFor()

    await more.press('Enter')
    await menu(page).getByRole('menuitem').first().and(page.locator(':focus')).waitFor()
    await page.keyboard.press('d')
    await menu(page).getByRole('menuitem', { name: 'Delete' }).and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Escape')
    await more.and(page.locator(':focus')).waitFor()

    await more.click()
    await menu(page).waitFor()
    await more.click()
    await menu(page).waitFor({ state: 'detached' })
    await more.and(page.locator(':focus')).waitFor()
  })

  test('N52: from right to left, a menu ends where its toolbar does, and the arrow to the left goes on', async () => {
    const page = await plaza.guest()
    const said = await speak(page)
    const ends = async (side: 'left' | 'right') => {
      const row = line(page, said)
      await row.locator('.text').hover()
      await row.getByRole('toolbar').getByRole('button').first().click()
      await page.getByRole('menu').waitFor()
      const at = (place: Locator) => place.evaluate((one, of) => one.getBoundingClientRect()[of], side)
      const far = Math.abs((await at(row.getByRole('toolbar'))) - (await at(page.getByRole('menu'))))
      expect(far).toBeLessThan(2)
    }
    await ends('right')
    await page.evaluate(() => localStorage.setItem('plaza.language', 'ar'))
    await page.reload()
    await isLive(page)
    await ends('left')
    for (const [key, at] of [
      ['ArrowLeft', 1],
      ['ArrowRight', 0],
    ] as const) {
      await page.keyboard.press(key)
      await page.getByRole('menuitem').nth(at).and(page.locator(':focus')).waitFor()
    }
  })

  test('N52: a finger that rests on a message opens all that can be done with it', async () => {
    const [page, other] = [await plaza.guest(phone), await plaza.guest(desktop)]
    const said = await speak(other)
    await line(page, said).waitFor()
    const touch = await page.context().newCDPSession(page)
    const rest = async () => {
      const box = await line(page, said).locator('.text').boundingBox()
      if (!box) throw new Error('There is no message')
      const touchPoints = [{ x: box.x + 40, y: box.y + box.height / 2 }]
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints })
      await menu(page).waitFor()
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
    }
    await rest()
    expect(await offered(page)).toEqual(['React', 'Reply', 'Copy text', 'Copy link', 'Star', 'Report message'])
    // It slides in.
    const bottom = async () => {
      const box = await menu(page).boundingBox()
      return (box?.y ?? 0) + (box?.height ?? 0)
    }
    await expect.poll(bottom).toBeCloseTo(await page.evaluate(() => innerHeight), 0)
    await menu(page).getByRole('menuitem', { name: 'Reply' }).tap()
    await page.getByText('Reply to').waitFor()

    await rest()
    await menu(page).getByRole('menuitem', { name: 'Report message' }).tap()
    await page.getByRole('dialog').getByRole('button', { name: 'Send report' }).waitFor()
    await page.getByRole('dialog').locator('blockquote').getByText(said).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })

    await rest()
    await menu(page).getByRole('menuitem', { name: 'React' }).tap()
    await page.getByRole('menu', { name: 'Reactions' }).waitFor()
  })
})

/** Holds back what the server tells this page, from `hold` until `release`. */
async function holdAnswers(page: Page) {
  let held: (() => void)[] | null = null
  await page.routeWebSocket(/socket\.io/, (socket: WebSocketRoute) => {
    socket.connectToServer().onMessage((frame) => {
      const pass = () => socket.send(frame)
      if (held) held.push(pass)
      else pass()
    })
  })
  return {
    hold() {
      held = []
    },
    release() {
      const due = held ?? []
      held = null
      for (const pass of due) pass()
    },
  }
}
