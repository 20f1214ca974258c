import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { profiles } from '#shared/api/people/profiles'
import { personAt } from '#test/support/people'
import { axeFaults, go, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({})
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

test('a visitor writes in a guestbook, answers a poll, reacts, and is counted', async () => {
  const owner = await personAt(plaza.url, 'owner of a board')
  const options = [
    { id: 'tea', text: 'Tea' },
    { id: 'milk', text: 'Milk' },
  ]
  for (const widget of [
    { widget_type: 'guestbook', config: { title: 'My book' } },
    { widget_type: 'poll', config: { question: 'What to drink?', options } },
    { widget_type: 'reaction_wall', config: { allowedEmojis: ['❤️'] } },
    { widget_type: 'visitor_counter', config: {} },
  ] as const)
    await owner.does('rest', profiles.arrange, widget as never)
  const page = await plaza.guest()
  await go(page, `/profile/${owner.account}`)
  await page.getByRole('textbox', { name: 'Write something' }).fill('Nice place!')
  await page.getByRole('button', { name: 'Sign', exact: true }).click()
  await page.getByRole('list', { name: 'Guestbook' }).getByText('Nice place!').waitFor()
  await page.getByRole('button', { name: 'Tea' }).click()
  await page.getByText('1 vote').waitFor()
  expect(await page.getByRole('button', { name: 'Tea' }).getAttribute('aria-pressed')).toBe('true')
  await page.getByRole('button', { name: '❤️' }).click()
  await expect.poll(() => page.getByRole('button', { name: '❤️' }).getAttribute('aria-pressed')).toBe('true')
  await page.reload()
  await page.getByText('Nice place!').waitFor()
  await expect.poll(() => page.locator('.widget-board__count').innerText()).toBe('1')
  expect(await axeFaults(page)).toEqual([])
  await page.getByRole('button', { name: /^Remove what/ }).click()
  await page.getByText('Be the first to write.').waitFor()
})
