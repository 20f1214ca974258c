import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { fakeVideo } from '#server/ports/video/fake'
import { seeded } from '#test/support/seeded'
import { axeFaults, confirmAct, desktop, go, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true, services: { video: fakeVideo() } })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const looked = [
  ...['color', 'background-color', 'opacity', 'font-size', 'font-weight', 'padding', 'margin', 'gap', 'display'],
  ...['position', 'border-width', 'border-color', 'border-radius', 'max-width', 'min-height', 'text-align'],
]

/** How the elements of a part of the page look, each kind of them once, and how wide the part and its children are. */
const looks = (page: Page, part: string): Promise<string[]> =>
  page
    .locator(part)
    .first()
    .evaluate(async (root, names) => {
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur()
      const ending = document.getAnimations().filter((one) => one.effect?.getComputedTiming().endTime !== Infinity)
      await Promise.allSettled(ending.map((one) => one.finished))
      const wide = [root, ...root.children].map((one) => `${one.className}: ${Math.round(one.clientWidth)} px`)
      const all = [...root.querySelectorAll('*')].map((element) => {
        const style = getComputedStyle(element)
        const name = `${element.parentElement?.className} > ${element.tagName}.${element.className}`
        return [name, ...names.map((one) => `${one} ${style.getPropertyValue(one)}`)].join('; ')
      })
      return [...wide, ...new Set(all)].sort()
    }, looked)

const rooms = ['alpha', 'alpha/members', 'alpha/search', 'alpha/moderation', 'channel:nowhere'].map(
  (at) => `/rooms/${at}`,
)
const others = ['/agents', '/agents/new', '/calls', '/friends', '/starred', '/live', '/live/new', '/profile']

async function openScreen(page: Page, path: string): Promise<void> {
  await go(page, path)
  // Not the heading of the page while it opens.
  await page.locator('.home main h1').first().waitFor()
  await page.waitForLoadState('networkidle')
  await page.locator('.skeleton').first().waitFor({ state: 'detached' })
}

/** An ended stream has a screen of its own. */
async function endStream(page: Page): Promise<string> {
  await openScreen(page, '/live/new')
  await page.getByRole('textbox', { name: 'Title' }).fill('Over soon')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'End stream' }).click()
  await confirmAct(page, 'End stream')
  await page.getByText('There is no recording of it.').waitFor()
  return new URL(page.url()).pathname
}

/** The screens in another order for each seed. */
function shuffled(screens: readonly string[], random: () => number): string[] {
  const rest = [...screens]
  return screens.flatMap(() => rest.splice(Math.floor(random() * rest.length), 1))
}

test.each([
  ['desktop', desktop],
  ['phone', phone],
])(
  'O80: on a %s all screens look the same in ten orders of one visit as in a visit of their own',
  async (_name, device) => {
    const page = await plaza.guest({ ...device, reducedMotion: 'reduce' })
    // A composer takes the focus some time after its room has opened.
    await page.addInitScript(() => {
      HTMLElement.prototype.focus = () => {}
    })
    const screens = [...rooms, ...others, await endStream(page)]
    const fresh = new Map<string, string[]>()
    for (const screen of screens) {
      await page.goto(plaza.url + screen)
      await openScreen(page, screen)
      fresh.set(screen, await looks(page, 'main'))
    }
    const faults: string[] = []
    for (let seed = 1; seed <= 10; seed += 1) {
      const order = shuffled(screens, seeded(seed))
      await page.goto(`${plaza.url}${order[0]}`)
      for (const [at, screen] of order.entries()) {
        await openScreen(page, screen)
        const before = order.slice(0, at).join(', ')
        await expect
          .poll(() => looks(page, 'main'), { message: `seed ${seed}: ${screen} after ${before}` })
          .toEqual(fresh.get(screen))
      }
      faults.push(...(await axeFaults(page)).map((fault) => `seed ${seed}: ${order.at(-1)}: ${fault}`))
    }
    expect(faults).toEqual([])
  },
)

test('O80: the first screen looks the same after a sign-out as after a reload', async () => {
  const page = await plaza.guest()
  for (const screen of others) await openScreen(page, screen)
  await page.getByRole('button', { name: /Settings$/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  const way = page.getByRole('button', { name: 'Continue as guest' })
  await way.waitFor()
  const before = await looks(page, '.welcome__welcome-words')
  await page.reload()
  await way.waitFor()
  expect(before).toEqual(await looks(page, '.welcome__welcome-words'))
})
