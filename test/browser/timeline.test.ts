import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, line, openPlaza, phone, say } from './plaza.ts'

describe('the timeline', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const notice = (page: Page) => page.locator('.slim', { hasText: 'changed the topic' })
  const setTopic = async (page: Page, topic: string) => {
    await page.getByRole('button', { name: 'More about this room' }).click()
    await page.getByRole('menuitem', { name: /topic$/ }).click()
    await page.getByRole('dialog', { name: 'Topic' }).getByRole('textbox').fill(topic)
    await page.keyboard.press('Enter')
    await notice(page).getByText(topic).waitFor()
  }
  const owner = async (device = desktop) => {
    const page = await plaza.guest(device)
    if (device === phone) await page.getByRole('button', { name: 'Rooms' }).click()
    await page.getByRole('button', { name: 'New room' }).click()
    const name = `Channel ${randomUUID().slice(0, 8)}`
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    return page
  }
  const rows = (page: Page) =>
    page.locator('.rows > :is(.slim, .message)').evaluateAll((all) => all.map(({ classList }) => classList[0]))

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('a notice without a space breaks within the room, on a %s', async (_name, device) => {
    const page = await owner(device)
    await setTopic(page, 'x'.repeat(250))
    const fits = await page.locator('.timeline').evaluate((box) => box.scrollWidth <= box.clientWidth)
    expect(fits).toBe(true)
    const within = await notice(page).evaluate((box) => box.scrollWidth <= box.clientWidth)
    expect(within).toBe(true)
  })

  test('a notice stays above the first message of a room, and a message that waits stands below all notices', async () => {
    const page = await owner()
    await setTopic(page, 'Before anybody spoke')
    await say(page, 'The first')
    await line(page, 'The first').and(page.locator('.sent')).waitFor()
    expect(await rows(page)).toEqual(['slim', 'message'])

    await setTopic(page, 'Before the connection was lost')
    await page.getByRole('button', { name: 'Drop my connection' }).click()
    await say(page, 'Waiting')
    await line(page, 'Waiting').getByText('Waits for the connection').waitFor()
    expect(await rows(page)).toEqual(['slim', 'message', 'slim', 'message'])
    await page.getByRole('button', { name: 'Connect again' }).click()
    await line(page, 'Waiting').and(page.locator('.sent')).waitFor()
    expect(await rows(page)).toEqual(['slim', 'message', 'slim', 'message'])
  })
})
