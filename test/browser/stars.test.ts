import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { messages } from '#shared/api/rooms/messages'
import { stars } from '#shared/api/rooms/stars'
import { alpha } from '#shared/kit/room-key'
import { axeFaults, desktop, go, isLive, line, openPlaza, phone, say, trouble } from './plaza.ts'

describe('messages that one stars', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const choose = async (page: Page, text: string, choice: string) => {
    await line(page, text).focus()
    await line(page, text).getByRole('button', { name: 'More' }).press('Enter')
    await page.getByRole('menuitem', { name: choice, exact: true }).click()
  }

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('are marked, found from anywhere, and marked no more, on a %s', async (_name, device) => {
    const page = await plaza.guest(device)
    const [text, other] = [`Keep ${randomUUID()}`, `Leave ${randomUUID()}`]
    for (const said of [text, other]) {
      await say(page, said)
      await line(page, said).and(page.locator('.sent')).waitFor()
    }
    await choose(page, text, 'Star')
    await line(page, text).getByText('Starred').waitFor()
    expect(await line(page, other).getByText('Starred').count()).toBe(0)
    await page.reload()
    await isLive(page)
    await line(page, text).getByText('Starred').waitFor()

    if (device === phone) await page.getByRole('button', { name: /^Back/ }).click()
    await page.getByRole('link', { name: 'Starred' }).click()
    const list = page.getByRole('list', { name: 'Starred messages' })
    const found = list.getByRole('button', { name: text })
    await found.waitFor()
    expect(await axeFaults(page)).toEqual([])
    await found.click()
    await isLive(page)
    await page.locator('.messages__message.marked', { hasText: text }).waitFor()

    await choose(page, text, 'Remove star')
    await line(page, text).getByText('Starred').waitFor({ state: 'detached' })
    await choose(page, other, 'Star')
    await go(page, '/starred')
    await list.getByRole('button', { name: 'Remove star' }).click()
    await page.getByText('No starred messages').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })

  test('elsewhere while this page was away are marked once it is back', async () => {
    const page = await plaza.guest()
    const text = `Keep from afar ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    const account: string = await page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
    await page.context().setOffline(true)
    await trouble(page).getByText('Offline.').waitFor()
    const { messages: said } = await plaza.node.callAs(account, messages.history, { room: alpha })
    const messageId = said.find(({ content }) => content === text)?.id ?? ''
    await plaza.node.callAs(account, stars.add, { messageId, messageType: 'alpha' })
    await page.context().setOffline(false)
    await line(page, text).getByText('Starred').waitFor()
  })
})
