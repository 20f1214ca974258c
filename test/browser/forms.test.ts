import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, openPlaza, openRoomSettings, startPoll } from './plaza.ts'

describe('forms', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  test('the topic is counted in characters, and one that is too long is kept and told', async () => {
    const page = await plaza.guest()
    await becomeModerator(page)
    const dialog = (await openRoomSettings(page, 'Overview')).getByRole('form', { name: 'Topic' })
    await dialog.getByRole('textbox').fill('x'.repeat(251))
    await dialog.getByText('251 / 250').waitFor()
    await dialog.getByRole('alert').getByText('This is too long.').waitFor()
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog.getByRole('textbox').fill('😀'.repeat(250))
    await dialog.getByText('250 / 250').waitFor()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Topic saved.').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: /^Topic: 😀/u }).waitFor()
  })

  test('a status is set and is there after a reload; its words have more room than its emoji', async () => {
    const page = await plaza.guest()
    const form = page.getByRole('form', { name: 'Status' })
    const [emoji, words] = [form.getByLabel('Emoji'), form.getByLabel('Status')]
    await page.getByRole('button', { name: /Settings$/ }).click()
    await emoji.fill('🌴')
    await words.fill('Away until Monday')
    const widths = [await emoji.boundingBox(), await words.boundingBox()].map((box) => box?.width ?? 0)
    expect(widths[1]).toBeGreaterThan(2 * (widths[0] ?? 0))
    await form.getByRole('button', { name: 'Set status' }).click()
    await page.getByText('Saved.').waitFor()
    await page.reload()
    await expect.poll(() => words.inputValue()).toBe('Away until Monday')
    expect(await emoji.inputValue()).toBe('🌴')
  })

  test('what is told while a dialog is open stands in it, and on the page once it is closed', async () => {
    const page = await plaza.guest()
    await page.getByRole('button', { name: /Settings$/ }).click()
    const settings = page.getByRole('dialog', { name: 'Settings' })
    await settings.getByRole('form', { name: 'Status' }).getByLabel('Status').fill('Here')
    await settings.getByRole('button', { name: 'Set status' }).click()
    await settings.locator('.toasts').getByText('Saved.').waitFor()
    await page.keyboard.press('Escape')
    await settings.waitFor({ state: 'detached' })
    await page.locator('.toasts').getByText('Saved.').waitFor()
  })

  test('a poll with two equal answers is told so, and another answer takes the focus', async () => {
    const page = await plaza.guest()
    await startPoll(page)
    const dialog = page.getByRole('dialog', { name: 'Create poll' })
    await dialog.getByLabel('Question').fill('Which?')
    for (const answer of ['Answer 1', 'Answer 2']) await dialog.getByLabel(answer).fill('Tea')
    await dialog.getByRole('button', { name: 'Create poll' }).click()
    await dialog.getByRole('alert').getByText('Two answers are the same.').waitFor()
    await dialog.getByRole('button', { name: 'Add answer' }).click()
    await page.keyboard.type('Coffee')
    expect(await dialog.getByLabel('Answer 3').inputValue()).toBe('Coffee')
    await dialog.getByLabel('Answer 2').fill('Water')
    await dialog.getByRole('button', { name: 'Create poll' }).click()
    await dialog.waitFor({ state: 'detached' })
  })

  test('a search for one letter is answered', async () => {
    const page = await plaza.guest()
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.getByLabel('Search for').fill('ж')
    await page.keyboard.press('Enter')
    await page.getByText('No results').waitFor()
  })

  test('the buttons in the list of channels are named after their channels', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const name = `Channel ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
    await page.getByRole('dialog').getByRole('button', { name: 'Create channel' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    for (const [one, act] of [
      [page, 'Open'],
      [other, 'Join'],
    ] as const) {
      await one
        .getByRole('button', { name: /channels/i })
        .first()
        .click()
      await one
        .getByRole('dialog')
        .getByRole('button', { name: `${act} ${name}`, exact: true })
        .click()
      await one.getByRole('heading', { level: 1, name }).waitFor()
    }
  })
})
