import { afterAll, beforeAll, expect, test } from 'vitest'
import { axeFaults, desktop, field, go, line, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ environment: { WELCOME_MESSAGE: 'Good that **you** are here' } })
})
afterAll(() => plaza.close())

test.each([
  ['desktop', desktop],
  ['phone', phone],
])(
  'Plaza says welcome in a conversation of its own, which says that it is not secret, on a %s',
  async (_name, device) => {
    const page = await plaza.guest(device)
    await go(page, '/')
    const row = page.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name: /Plaza/ })
    await row.getByText('Good that you are here').waitFor()
    await row.click()
    await page.getByRole('heading', { name: 'Plaza', level: 1 }).waitFor()
    await line(page, 'Good that you are here').getByText('sent to everyone who is new here').waitFor()
    await page.getByText('an announcement from Plaza').waitFor()
    await expect.poll(() => field(page).getAttribute('placeholder')).toBe('Replies are not read here')
    expect(await page.getByText('End-to-end encrypted').count()).toBe(0)
    expect(await axeFaults(page)).toEqual([])
    await plaza.settle()
  },
)
