import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { script } from '#test/support/shared-key'
import { axeFaults, desktop, field, go, isLive, line, openPlaza, phone, say } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ services: { attendance: script } })
}, 180_000)
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const post = (page: Page, path: string, body: object) =>
  page.evaluate(
    async ([path, body]) => {
      const headers = { 'content-type': 'application/json' }
      const answer = await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })
      if (!answer.ok) throw new Error(await answer.text())
      return (await answer.json()) as { channel: { id: string } }
    },
    [path, body] as const,
  )
const accountOf = (page: Page) =>
  page.evaluate(async () => {
    const { user } = (await (await fetch('/api/auth/session')).json()) as { user: { wallet_address: string } }
    return user.wallet_address
  })

test('two members of a room with a shared key exchange text and a picture, and are told what the key protects from', async () => {
  const [one, two] = [await plaza.guest(), await plaza.guest()] as const
  for (const page of [one, two]) script.mint(await accountOf(page), 60)
  const { id } = (await post(one, '/api/channels', { attendanceEventId: 60 })).channel
  await post(two, `/api/rooms/channel/${id}/join`, {})
  for (const page of [one, two]) {
    await go(page, `/rooms/${encodeURIComponent(`channel:${id}`)}`)
    await field(page).waitFor()
    await isLive(page)
  }
  await say(one, 'The soup was cold')
  await line(two, 'The soup was cold').waitFor()
  expect(await line(two, 'The soup was cold').getByText('Stored in clear').count()).toBe(0)

  await field(one).press('ArrowUp')
  await one.keyboard.type('er')
  const typing = two.locator('.messages__typing')
  await typing.getByText('is typing').waitFor()
  await one.keyboard.press('Enter')
  await line(two, 'The soup was colder').waitFor()
  await expect.poll(() => typing.innerText(), { timeout: 2_000 }).toBe('')

  const said = two.getByRole('button', { name: 'Encrypted at rest; the operator holds the key' })
  await said.click()
  await two
    .getByRole('dialog')
    .getByText('The people who run this server hold the key and can read everything.')
    .waitFor()
  expect(await axeFaults(two)).toEqual([])
  await two.keyboard.press('Escape')
  await two.setViewportSize(phone.viewport)
  expect((await said.boundingBox())?.height).toBeLessThan(24)
  await two.setViewportSize(desktop.viewport)
  expect(await two.getByText(/end-to-end/i).count()).toBe(0)
  expect(await two.getByRole('button', { name: 'Search', exact: true }).count()).toBe(0)
  await two.getByRole('button', { name: 'Attach' }).click()
  await two.getByRole('menuitem', { name: /^Photo/ }).waitFor()
  expect(await two.getByRole('menuitem', { name: /^Poll/ }).count()).toBe(0)
  await two.keyboard.press('Escape')

  const buffer = Buffer.from(
    await one.evaluate(async () => {
      const canvas = document.createElement('canvas')
      canvas.getContext('2d')?.fillRect(0, 0, 40, 40)
      const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
      return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]
    }),
  )
  await one
    .locator('.attach-button__attach input[type=file]')
    .setInputFiles([{ name: 'soup.png', mimeType: 'image/png', buffer }])
  await one.getByRole('button', { name: 'Send', exact: true }).click()
  const picture = two.locator('.messages__message.sent .media__picture img')
  await expect
    .poll(() => picture.evaluateAll((all) => all.map((img) => (img as HTMLImageElement).naturalWidth > 0)))
    .toEqual([true])
  expect(await picture.getAttribute('src')).toMatch(/^blob:/)
})
