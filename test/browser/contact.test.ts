import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { axeFaults, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { CONTACT_EMAIL: 'team@plaza.test' } })
}, 180_000)
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

test('whoever is not signed in writes to those who run it, on a phone', async () => {
  const page = await plaza.visit(phone)
  await page.getByRole('button', { name: 'Contact' }).click()
  const dialog = page.getByRole('dialog', { name: 'Contact' })
  await dialog.getByLabel('Your name').fill('Ann')
  await dialog.getByLabel('Your email address').fill('ann@people.test')
  await dialog.getByLabel('Message').fill('May we hold a meeting here?')
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect([colorScheme, await axeFaults(page)]).toEqual([colorScheme, []])
  }
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByText('We answer by e-mail.').waitFor()
  const { letters } = (await (await fetch(`${plaza.url}/dev/mail.json`)).json()) as {
    letters: { to: string; text: string }[]
  }
  expect(letters.find(({ to }) => to === 'team@plaza.test')?.text).toContain('May we hold a meeting here?')
})
