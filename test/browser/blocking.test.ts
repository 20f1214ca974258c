import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, confirmAct, field, go, isLive, line, openPlaza, say } from './plaza.ts'

/** Blocked people, in rooms that both people are in. */
describe('blocked people', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const collapsed = 'From someone you blocked'
  const block = async (page: Page, text: string, name = 'Block') => {
    await line(page, text).first().locator('.messages__who').dispatchEvent('click')
    await page.getByRole('dialog').getByRole('button', { name, exact: true }).click()
    if (name === 'Block') {
      await page.getByText('If you are friends, the friendship ends.').waitFor()
      await confirmAct(page, 'Block')
    }
    await page.getByRole('dialog').first().waitFor({ state: 'detached' })
  }

  test('M36: what a blocked person says stands collapsed wherever it is shown, on a desktop', async () => {
    const [page, other, third] = [await plaza.guest(), await plaza.guest(), await plaza.guest()]
    const mark = randomUUID()
    const said = `Hateful ${mark}`
    await becomeModerator(third)
    await say(other, said)
    await line(third, said).focus()
    await line(third, said).getByRole('button', { name: 'More' }).click()
    await third.getByRole('menuitem', { name: 'Pin' }).click()
    await third.getByRole('region', { name: 'Pinned messages' }).getByText(said).waitFor()
    await line(third, said).hover()
    await line(third, said).getByRole('button', { name: 'Reply' }).click()
    await say(third, `An answer ${mark}`)
    const answer = line(page, `An answer ${mark}`)
    await answer.locator('.messages__quote').getByText(said).waitFor()
    const pins = page.getByRole('region', { name: 'Pinned messages' })
    await pins.getByText(said).waitFor()

    await block(page, said)
    await page.reload()
    await answer.waitFor()
    await answer.locator('.messages__quote').getByText(collapsed).waitFor()
    await pins.getByText(collapsed).waitFor()
    const own = page.getByRole('list', { name: 'Messages' }).locator('.messages__message', { hasText: collapsed })
    expect(await own.filter({ has: page.getByRole('button', { name: 'Show' }) }).count()).toBe(1)

    const name = (await page.locator('.sidebar__me strong').textContent()) ?? ''
    await field(other).pressSequentially(`@${name.split(' ')[1]}`)
    await other.getByRole('option', { name }).first().click()
    await field(other).pressSequentially(` live ${mark}`)
    expect(await page.locator('.messages__typing').innerText()).toBe('')
    await other.keyboard.press('Enter')
    await expect.poll(() => own.count()).toBe(3)
    expect(await page.locator('.messages__message.mentioned').count()).toBe(0)
    await say(third, `Afterwards ${mark}`)
    await page.getByRole('log').getByText(`Afterwards ${mark}`).waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(new RegExp(`(Hateful|live) ${mark}`))

    await go(page, '/rooms/alpha/search')
    await page.getByRole('searchbox', { name: 'Search for' }).fill(said)
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Results' }).getByText(collapsed).waitFor()
    expect(await page.locator('body').innerText()).not.toMatch(new RegExp(`(Hateful|live) ${mark}`))
    await go(page, '/rooms/alpha')

    const show = own.getByRole('button', { name: 'Show' }).first()
    await show.focus()
    await show.press('Enter')
    await line(page, said).first().and(page.locator(':focus')).waitFor()
    await block(page, said, 'Unblock')
    await pins.getByText(said).waitFor()
    await answer.locator('.messages__quote').getByText(said).waitFor()
  })

  test('M36: no message is shown before the list of blocked people is loaded', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const said = `Hateful ${randomUUID()}`
    await say(other, said)
    await block(page, said)
    let answer = () => {}
    const isAsked = new Promise<void>((resolve) => {
      void page.route('**/api/users/block*', async (route) => {
        resolve()
        await new Promise<void>((proceed) => {
          answer = proceed
        })
        await route.continue()
      })
    })
    await page.reload()
    await isAsked
    await isLive(page)
    await page.getByRole('status', { name: 'Loading messages' }).waitFor()
    expect(await page.locator('body').innerText()).not.toContain(said)
    answer()
    await page.getByText(collapsed).first().waitFor()
    expect(await page.locator('body').innerText()).not.toContain(said)
  })

  test('a second press on block or unblock during the request sends no second request', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const said = `Said ${randomUUID()}`
    await say(other, said)
    await block(page, said)
    let asked = 0
    await page.route('**/api/users/block*', async (route) => {
      if (route.request().method() !== 'GET') asked += 1
      await new Promise((resolve) => setTimeout(resolve, 500))
      await route.continue()
    })
    await page.getByRole('button', { name: /Settings/ }).click()
    await page.getByRole('tab', { name: 'Privacy' }).click()
    const undo = page.getByRole('dialog').getByRole('button', { name: 'Unblock' })
    await undo.focus()
    for (let times = 0; times < 3; times += 1) await page.keyboard.press('Enter')
    expect(await undo.isEnabled()).toBe(false)
    await undo.and(page.locator(':focus')).waitFor()
    await undo.waitFor({ state: 'detached' })
    expect(asked).toBe(1)
  })

  test('M36: messages of a blocked person are neither counted nor shown in the list of rooms and the title', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const mark = randomUUID()
    await say(other, `First ${mark}`)
    await block(page, `First ${mark}`)
    const room = `Away ${mark.slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    await page.getByLabel('Name', { exact: true }).fill(room)
    await page.getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name: room }).waitFor()
    const name = await page.locator('.sidebar__me strong').innerText()
    await field(other).pressSequentially(`@${name.split(' ')[1]}`)
    await other.getByRole('option', { name }).first().click()
    await field(other).pressSequentially(` unheard ${mark}`)
    await other.keyboard.press('Enter')
    await line(other, `unheard ${mark}`).and(other.locator('.sent')).waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: room }).waitFor()
    const alpha = page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name: 'Alpha' })
    await alpha.waitFor()
    expect(await alpha.innerText()).not.toMatch(/unheard|@1|unread/)
    expect(await page.title()).toBe(`${room} · Plaza`)
  })
})
