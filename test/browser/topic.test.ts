import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { becomeModerator, desktop, go, openPlaza, openRoomSettings, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const shown = (page: Page) => page.getByRole('button', { name: /^Topic: / })
const dialog = (page: Page) => page.getByRole('dialog', { name: 'Topic' })
const openMenu = (page: Page) => page.getByRole('button', { name: 'More about this room' }).click()
const change = async (page: Page, topic: string) => {
  const settings = await openRoomSettings(page, 'Overview')
  await settings.getByRole('form', { name: 'Topic' }).getByRole('textbox').fill(topic)
  await page.keyboard.press('Enter')
  await page.getByText('Topic saved.').first().waitFor()
  await page.keyboard.press('Escape')
  await settings.waitFor({ state: 'detached' })
}
test.each([
  ['desktop', desktop],
  ['phone', phone],
])(
  'a moderator sets the topic on a %s; everybody sees it in one line, and in full after a press',
  async (name, device) => {
    const [page, other] = [await plaza.guest(device), await plaza.guest(device)]
    await openMenu(other)
    expect(await other.getByRole('menuitem', { name: 'Room settings' }).count()).toBe(0)
    await other.keyboard.press('Escape')
    await becomeModerator(page)
    await go(page, '/rooms/alpha')

    const topic = `Planting fruit trees in ${name} gardens: which soil, how deep, how far apart, and what to do in the first three years about rabbits, late frost and neighbours who would rather not have any shade at all on their lawn`
    await change(page, topic)
    for (const one of [page, other]) await shown(one).waitFor()
    const line = shown(other).locator('.room-topic__line')
    expect(await line.innerText()).toBe(topic)
    const fits = await line.evaluate((box) => ({
      isCut: box.scrollWidth > box.clientWidth,
      lines: Math.round(box.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(box).fontSize)),
      isWithin: box.getBoundingClientRect().right <= innerWidth && document.documentElement.scrollWidth <= innerWidth,
    }))
    expect(fits).toEqual({ isCut: true, lines: expect.toSatisfy((lines: number) => lines <= 2), isWithin: true })
    await other.getByText(`changed the topic: ${topic}`).waitFor()

    await shown(other).press('Enter')
    await dialog(other).getByText(topic).waitFor()
    expect(await dialog(other).getByRole('textbox').count()).toBe(0)
    await other.keyboard.press('Escape')
    await dialog(other).waitFor({ state: 'detached' })
    expect(await shown(other).evaluate((button) => button === document.activeElement)).toBe(true)

    await shown(page).click()
    await dialog(page).getByRole('textbox').fill('a\u202eb')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await dialog(page).getByRole('alert').waitFor()
    await dialog(page).getByRole('textbox').fill('נושא החדר: עצי פרי')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await expect.poll(() => line.innerText()).toBe('נושא החדר: עצי פרי')
    expect(await line.evaluate((box) => getComputedStyle(box).direction)).toBe('rtl')
    await other.reload()
    await expect.poll(() => line.innerText()).toBe('נושא החדר: עצי פרי')

    await change(page, '')
    for (const one of [page, other]) await shown(one).waitFor({ state: 'detached' })
  },
)
