import { randomBytes } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { createClient, memoryStorage, uploadEvidence, uploadImage } from '#client/sdk/index'
import { social } from '#shared/api/moderation/social'
import { messages } from '#shared/api/rooms/messages'
import { dmOf } from '#shared/kit/primitives'
import { type Person, pathOf, personAt, sealed } from '#test/support/people'
import { pngOf } from '#test/support/pictures'
import { script } from '#test/support/shared-key'
import {
  addWallet,
  axeFaults,
  deskOf,
  desktop,
  field,
  go,
  isLive,
  openPlaza,
  phone,
  pressInHeader,
  walletInBrowser,
} from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({
    services: { attendance: script },
    environment: { ADMINS: walletInBrowser.address },
  })
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
const judge = async (page: Page, name: string) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
    expect([name, await axeFaults(page)]).toEqual([name, []])
  }
}
const send = async (page: Page, color: string) => {
  const bytes = await page.evaluate(async (color) => {
    const canvas = Object.assign(document.createElement('canvas'), { width: 320, height: 240 })
    const drawn = canvas.getContext('2d')
    if (drawn) drawn.fillStyle = color
    drawn?.fillRect(40, 40, 240, 160)
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'))
    return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]
  }, color)
  const file = { name: 'it.png', mimeType: 'image/png', buffer: Buffer.from(bytes) }
  await page.locator('.attach-button__attach input[type=file]').setInputFiles([file])
  await page.getByRole('button', { name: 'Send', exact: true }).click()
}

test.each([
  ['desktop', desktop, 61],
  ['phone', phone, 62],
] as const)(
  'who reports a sealed picture includes it, and a moderator sees that it is what was sent, on a %s',
  async (name, device, event) => {
    const [owner, loud, hurt] = [await plaza.guest(device), await plaza.guest(), await plaza.guest(device)] as const
    for (const page of [owner, loud, hurt]) script.mint(await accountOf(page), event)
    const { id } = (await post(owner, '/api/channels', { attendanceEventId: event })).channel
    for (const page of [loud, hurt]) await post(page, `/api/rooms/channel/${id}/join`, {})
    for (const page of [owner, loud, hurt]) {
      await go(page, `/rooms/${encodeURIComponent(`channel:${id}`)}`)
      await field(page).waitFor()
      await isLive(page)
    }
    await send(loud, 'crimson')
    await hurt.locator('.messages__message .media__picture img').waitFor()
    await hurt.locator('.messages__message .messages__who').first().click()
    const dialog = hurt.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Report' }).click()
    const include = dialog.getByRole('checkbox', { name: 'Include the picture' })
    expect(await include.isChecked()).toBe(false)
    expect(await dialog.locator('blockquote').innerText()).toBe('Photo')
    await include.check()
    await judge(hurt, `report-${name}`)
    await dialog.getByRole('button', { name: 'Send report' }).click()
    await hurt.getByText('Thank you. The moderators have your report.').waitFor()

    await pressInHeader(owner, 'Moderation')
    await owner.getByRole('tab', { name: /Queue/ }).click()
    const panel = deskOf(owner)
    await panel.getByText('Matches what was sent').waitFor()
    expect(await panel.locator('img[alt="Attached to this report"]').count()).toBe(0)
    await panel.getByRole('button', { name: 'Show picture' }).click()
    const shown = panel.getByRole('img', { name: 'Attached to this report' })
    await expect.poll(() => shown.evaluate((one) => (one as HTMLImageElement).naturalWidth)).toBe(320)
    await judge(owner, `queue-${name}`)
    await panel.getByRole('button', { name: 'Resolve' }).click()
    await panel.getByText('All caught up').waitFor()
  },
)

test('what is reported of a direct message waits in the lobby for who moderates everywhere, with its picture', async () => {
  const [loud, hurt] = [await personAt(plaza.url, 'loud in private'), await personAt(plaza.url, 'hurt in private')]
  const clientFor = ({ url, token }: Person) =>
    createClient({ url, token, transport: 'rest', storage: memoryStorage() })
  const [by, to] = [clientFor(loud), clientFor(hurt)]
  const image = new Blob([new Uint8Array(pngOf({ about: [1] }))], { type: 'image/png' })
  const room = dmOf(loud.account, hurt.account)
  const key = new Uint8Array(randomBytes(32))
  const { url, salt } = await uploadImage(by, { image, key, conversationId: room.id })
  const { message } = await loud.does('rest', messages.send, { room, text: sealed(), blobs: [pathOf(url)] })
  const { evidence } = await uploadEvidence(to, { messageId: message.id, url, salt, data: image })
  await hurt.does('rest', social.report, {
    ...{ reportedAddress: loud.account, reportType: 'harassment', messageId: message.id, evidence },
    ...{ conversationType: 'dm', conversationId: loud.account, messageContent: 'What he sent' },
  })
  by.close()
  to.close()

  const judge = await plaza.visit(desktop, addWallet)
  await judge.getByRole('button', { name: 'Wallet', exact: true }).click()
  await judge.getByRole('button', { name: 'Test Wallet', exact: true }).click()
  await judge.getByRole('alert').getByText('The wallet declined the request').waitFor()
  await judge.getByRole('button', { name: 'Test Wallet', exact: true }).click()
  await judge.getByRole('navigation', { name: 'Your rooms' }).getByRole('link').first().waitFor()
  await go(judge, '/rooms/alpha')
  await field(judge).waitFor()
  await judge.getByRole('button', { name: 'Moderation' }).click()
  // What rooms have decided for themselves waits here as well.
  await judge.getByRole('tab', { name: /^Queue \(\d+\)$/ }).click()
  const elsewhere = judge.getByRole('region', { name: 'In other rooms and direct messages' })
  const its = elsewhere.getByRole('listitem').filter({ hasText: 'What he sent' })
  await its.waitFor()
  expect(await its.getByRole('button', { name: 'Show', exact: true }).count()).toBe(0)
  await its.getByRole('button', { name: 'Show picture' }).click()
  await its.getByRole('img', { name: 'Attached to this report' }).waitFor()
  expect(await axeFaults(judge)).toEqual([])
  await its.getByRole('button', { name: 'Resolve' }).click()
  await its.waitFor({ state: 'detached' })
})
