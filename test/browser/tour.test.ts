import type { Locator, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { desktop, field, isLive, openPlaza, phone } from './plaza.ts'

const titles = [
  'Send a message',
  'Get a link blocked',
  'Wait in slow mode',
  'Ask an agent',
  'Lose the connection',
  'Be the moderator',
]
const next = async (page: Page, title: string) => {
  const hint = page.getByRole('complementary', { name: 'Tour' })
  await hint.getByRole('link', { name: `Next: ${title}` }).click()
  await hint.getByText(`${titles.indexOf(title) + 2} of 7`).waitFor()
  return hint
}

/** The tour of the demo, opened by its links. */
describe('the tour', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza({ isSeeded: true })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const take = async (step: string, device = desktop): Promise<Page> => {
    const page = await plaza.visit(device)
    await page.getByRole('navigation', { name: 'tour' }).getByRole('link', { name: step }).click()
    await page.getByRole('complementary', { name: 'Tour' }).waitFor()
    return page
  }

  test('the rules of a room are shown the first time, and not again', async () => {
    const page = await plaza.visit()
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    const rules = page.getByRole('region', { name: 'Rules of Alpha' })
    await rules.getByText('Be kind, be curious').waitFor()
    await rules.getByRole('button', { name: 'Got it' }).click()
    await rules.waitFor({ state: 'detached' })
    await page.reload()
    await isLive(page)
    expect(await rules.count()).toBe(0)

    await page.getByRole('link', { name: 'No links please' }).click()
    await page.getByRole('region', { name: 'Rules of No links please' }).getByRole('button', { name: 'Got it' }).click()
  })

  test('the step about refused links prefills a link', async () => {
    const page = await take('Get a link blocked')
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'Message blocked' }).getByText('Links are not allowed').waitFor()
  })

  /** The visible height of an element in pixels. */
  const seenOf = (locator: Locator) =>
    locator.evaluate((element) => {
      const { left, right, top, bottom } = element.getBoundingClientRect()
      const isOnTop = (y: number) => element.contains(document.elementFromPoint((left + right) / 2, y))
      return Array.from({ length: Math.round(bottom - top) }, (_, at) => top + at + 0.5).filter(isOnTop).length
    })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
    ['phone with its keyboard open', { ...phone, viewport: { width: 390, height: 480 } }],
  ])(
    'M62: every step focuses the control to use, and shows its hint and the messages, on a %s',
    async (_name, device) => {
      const page = await take('Join as a guest', device)
      await field(page).waitFor()
      for (const title of titles) {
        const hint = await next(page, title)
        const isModerating = title === 'Be the moderator'
        const acted = page.locator(isModerating ? '.messages__message:focus' : '#composer:focus')
        await acted.waitFor()
        const hidden = async () => ((await hint.boundingBox())?.height ?? 1_000) - (await seenOf(hint))
        await expect.poll(hidden).toBeLessThan(3)
        const read = page.getByRole('list', { name: 'Messages' }).or(page.getByRole('region', { name: 'Conversation' }))
        await expect.poll(() => seenOf(read)).toBeGreaterThan(40)
        await expect.poll(() => seenOf(acted)).toBeGreaterThan(12)
      }
    },
  )

  test('the agent of the tour is asked; its answer goes on after a reload, and is stopped', async () => {
    const page = await take('Ask an agent')
    await page.locator('#composer:focus').waitFor()
    expect(await field(page).inputValue()).toBe('/endless')
    await page.keyboard.press('Enter')
    await page.locator('.agents__answer').getByText('and so it goes on').waitFor()
    await page.reload()
    await page.locator('.agents__answer').getByText('and so it goes on').waitFor()
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('This answer was stopped.').waitFor()
  })

  test('M62: in the moderator step, a sender is muted with the keyboard alone', async () => {
    const page = await plaza.visit()
    await page.goto(`${plaza.url}/#demo=moderate`)
    await page.locator('.messages__message:focus').waitFor()
    await page.keyboard.press('1')
    await page.getByRole('dialog', { name: 'Mute' }).locator('button:focus', { hasText: 'Mute' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Moderation log' }).getByText('muted').first().waitFor()
  })

  test('the connection is cut and restored, also on a phone', async () => {
    const page = await take('Lose the connection', phone)
    await page.getByText('You disconnected.').waitFor()
    await field(page).fill('Written on my own')
    await page.keyboard.press('Enter')
    await page.getByText('Waiting for connection').waitFor()
    await page.getByRole('button', { name: 'Reconnect' }).click()
    await page.locator('.messages__message.sent', { hasText: 'Written on my own' }).waitFor()
  })
})

test('M62: one guest can take the whole tour twice within the rate limits, and keeps typed text', async () => {
  const limited = await openPlaza({ isSeeded: true, environment: { RATE_LIMIT_SCALE: '1' } })
  onTestFinished(() => limited.close())
  const page = await limited.visit()
  await page.getByRole('navigation', { name: 'tour' }).getByRole('link', { name: 'Join as a guest' }).click()
  await field(page).waitFor()
  const guest = () => page.evaluate(() => JSON.parse(localStorage.getItem('plaza:session') ?? '{}').account)
  const first = await guest()
  await field(page).fill('half a thought')
  for (let round = 1; round <= 2; round++) {
    for (const title of titles) await next(page, title)
    await page.getByRole('complementary', { name: 'Moderation' }).getByRole('tab', { name: 'Log' }).waitFor()
    expect(await field(page).inputValue()).toBe('half a thought')
    expect(await guest()).toBe(first)
    await page.goto(`${limited.url}/#demo=guest`)
    await page.getByText('1 of 7').waitFor()
  }
  await limited.settle()
})
