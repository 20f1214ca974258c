import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, desktop, field, line, openPlaza, say } from './plaza.ts'

describe('acts that are hard to undo', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const speak = async (page: Page) => {
    const text = `Said ${randomUUID()}`
    await say(page, text)
    await line(page, text).and(page.locator('.sent')).waitFor()
    return text
  }

  test('keys pressed after a click on a message do not moderate; they are typed into the message field', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await becomeModerator(page)
    const said = await speak(other)
    await speak(other)
    const row = line(page, said)
    await row.getByText(said).click()
    await page.keyboard.type('well, 12 done')
    expect(await field(page).inputValue()).toBe('well, 12 done')
    await field(page).fill('')
    await row.focus()
    await row.getByText(said).click()
    await page.keyboard.type('d')
    expect(await field(page).inputValue()).toBe('d')
    expect(
      await page
        .locator('.toasts')
        .getByText(/warned|muted|deleted/i)
        .count(),
    ).toBe(0)
    expect(await row.count()).toBe(1)
    expect(await field(other).isEnabled()).toBe(true)

    await field(page).fill('')
    await row.getByText(said).click()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('p')
    await page.getByText(/Pinned, in effect everywhere/).waitFor()
  })
  test.each(['light', 'dark'] as const)(
    'a grave button is readable while the pointer is on it, in %s',
    async (colorScheme) => {
      const [page, other] = [await plaza.guest({ ...desktop, colorScheme }), await plaza.guest()]
      await becomeModerator(page)
      const said = await speak(other)
      await line(page, said).locator('.messages__who').dispatchEvent('click')
      for (const title of ['Ban', 'Purge messages']) {
        const button = page.getByRole('dialog').getByRole('button', { name: title })
        await button.click()
        const dialog = page.getByRole('dialog', { name: title })
        const act = dialog.getByRole('button', { name: title })
        await act.hover()
        expect(await act.evaluate(contrastOf)).toBeGreaterThan(4.5)
        expect(await act.evaluate((element) => element.matches(':hover'))).toBe(true)
        await dialog.getByRole('button', { name: 'Cancel' }).click()
        await dialog.waitFor({ state: 'detached' })
      }
    },
  )

  const askToLeave = async (page: Page) => {
    await page.getByRole('button', { name: 'More about this room' }).click()
    await page.getByRole('menuitem', { name: 'Leave' }).click()
    const dialog = page.getByRole('dialog', { name: 'Leave' })
    await dialog.getByRole('button', { name: 'Leave' }).and(page.locator(':enabled')).waitFor()
    return dialog
  }

  test('a room is left after a question, which asks its only owner who manages it then', async () => {
    const [owner, member] = [await plaza.guest(), await plaza.guest()]
    const name = `Channel ${randomUUID().slice(0, 8)}`
    await owner.getByRole('button', { name: 'New room' }).click()
    await owner.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await owner.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await owner.getByRole('heading', { level: 1, name }).waitFor()
    await member.goto(owner.url())
    await member.getByRole('button', { name: 'Join this room' }).click()
    await field(member).and(member.locator(':enabled')).waitFor()

    const unmanaged = 'Who should manage it after you?'
    const asked = await askToLeave(owner)
    await asked.getByText(`Leave ${name}?`).waitFor()
    await asked.getByText(unmanaged).waitFor()
    await asked.getByRole('button', { name: 'Cancel' }).click()
    await asked.waitFor({ state: 'detached' })
    await owner.getByRole('heading', { level: 1, name }).waitFor()

    const asks = await askToLeave(member)
    expect(await asks.getByText(unmanaged).count()).toBe(0)
    await asks.getByRole('button', { name: 'Leave' }).click()
    await member.getByRole('heading', { level: 1, name }).waitFor({ state: 'detached' })

    const again = await askToLeave(owner)
    await again.getByText('You are its last member.').waitFor()
    await again.getByRole('button', { name: 'Leave' }).click()
    await owner.getByRole('heading', { level: 1, name }).waitFor({ state: 'detached' })
  })
})

/** The contrast of an element's text to its background, once its transitions have ended. */
async function contrastOf(element: Element): Promise<number> {
  await Promise.all(element.getAnimations().map(({ finished }) => finished))
  const luminance = (colour: string) => {
    const paper = new OffscreenCanvas(1, 1).getContext('2d')
    if (!paper) throw new Error('There is no canvas')
    paper.fillStyle = colour
    paper.fillRect(0, 0, 1, 1)
    const [red = 0, green = 0, blue = 0] = [...paper.getImageData(0, 0, 1, 1).data].map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const { color, backgroundColor } = getComputedStyle(element)
  const [darker = 0, lighter = 0] = [luminance(color), luminance(backgroundColor)].toSorted((one, other) => one - other)
  return (lighter + 0.05) / (darker + 0.05)
}
