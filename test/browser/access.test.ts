import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, field, go, line, openPlaza, phone, say } from './plaza.ts'

/** Accessibility of the page: by keyboard, with a screen reader, on a phone. */
describe('accessibility of the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  test('every control has an accessible name, and ids are unique', async () => {
    const page = await plaza.guest()
    await say(page, `A line ${randomUUID()}`)
    for (const open of ['Members', 'Search']) {
      await page.getByRole('button', { name: open }).first().click()
      const faults = await page.evaluate(() => {
        const ids = [...document.querySelectorAll('[id]')].map(({ id }) => id)
        const twice = ids.filter((id, at) => ids.indexOf(id) !== at)
        const controls = [...document.querySelectorAll('button, a, input, textarea, select')]
        const nameless = controls.filter((control) => {
          const labels = control instanceof HTMLInputElement ? [...(control.labels ?? [])] : []
          const named = [
            control.getAttribute('aria-label'),
            control.textContent,
            ...labels.map((label) => label.textContent),
          ]
          return !named.some((name) => name?.trim())
        })
        return [...twice, ...nameless.map(({ outerHTML }) => outerHTML)]
      })
      expect(faults).toEqual([])
    }
    await page.context().close()
  })

  test('the page has its landmarks, one main heading and a polite log', async () => {
    const page = await plaza.guest()
    expect(await page.getByRole('main').count()).toBe(1)
    expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
    await page.getByRole('navigation', { name: 'Your rooms' }).waitFor()
    expect(await page.getByRole('log', { name: 'New messages' }).getAttribute('aria-live')).toBe('polite')
    await page.context().close()
  })

  test('a message of somebody else is announced, and does not take the focus', async () => {
    const [one, other] = [await plaza.guest(), await plaza.guest()]
    await field(one).focus()
    const text = `Read me out ${randomUUID()}`
    await say(other, text)
    await one.getByRole('log', { name: 'New messages' }).getByText(text).waitFor({ state: 'attached' })
    expect(await field(one).evaluate((element) => element === document.activeElement)).toBe(true)
    for (const page of [one, other]) await page.context().close()
  })

  test('the keyboard alone is enough to send, edit, react and delete', async () => {
    const page = await plaza.guest()
    const text = `By hand ${randomUUID()}`
    await field(page).focus()
    await page.keyboard.type(text)
    await page.keyboard.press('Enter')
    await page.locator('.messages__message.sent', { hasText: text }).waitFor()

    await page.keyboard.press('ArrowUp')
    await page.getByText('Editing').waitFor()
    await page.keyboard.type(', changed')
    await page.keyboard.press('Enter')
    await line(page, `${text}, changed`).getByText('edited').waitFor()

    await line(page, text).focus()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('menu', { name: 'Reactions' }).waitFor()
    await page.keyboard.press('Enter')
    await line(page, text).getByRole('list', { name: 'Reactions' }).waitFor()

    await line(page, text).getByRole('button', { name: 'More' }).press('Enter')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.getByText('Message deleted').last().waitFor()
    await page.context().close()
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('nothing is wider than a %s', async (_name, device) => {
    const page = await plaza.visit(device)
    const spare = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
    expect(await spare()).toBeLessThanOrEqual(0)
    await page.context().close()

    const inside = await plaza.guest(device)
    await say(inside, `${'long'.repeat(60)} https://example.org/${'x'.repeat(180)}`)
    await inside.locator('.messages__message.sent').last().waitFor()
    for (const panel of ['', '/members', '/search']) {
      await go(inside, `/rooms/alpha${panel}`)
      const wider = await inside.evaluate(() => document.documentElement.scrollWidth - innerWidth)
      expect(wider).toBeLessThanOrEqual(0)
    }
    await inside.context().close()
  })

  test('text has enough contrast in both themes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await plaza.guest({ ...desktop, colorScheme })
      const ratio = await page.evaluate(() => {
        const channel = (value: number) => (value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
        const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })
        const luminance = (color: string) => {
          if (!canvas) return 0
          canvas.fillStyle = color
          canvas.fillRect(0, 0, 1, 1)
          const [red = 0, green = 0, blue = 0] = canvas.getImageData(0, 0, 1, 1).data
          return 0.2126 * channel(red / 255) + 0.7152 * channel(green / 255) + 0.0722 * channel(blue / 255)
        }
        const probe = document.body.appendChild(document.createElement('i'))
        const seen = (name: string) => {
          probe.style.color = `var(--${name})`
          return luminance(getComputedStyle(probe).color)
        }
        const pairs = ['ink', 'ink-soft', 'ink-faint', 'accent', 'danger'].flatMap((ink) =>
          ['surface', 'ground', 'raised'].map((paper) => [seen(ink), seen(paper)] as const),
        )
        probe.remove()
        return Math.min(...pairs.map(([one, other]) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)))
      })
      expect(ratio).toBeGreaterThanOrEqual(4.5)
      await page.context().close()
    }
  })
})
