import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, field, go, isLive, openPlaza } from './plaza.ts'

describe('voice in an ordinary room', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const post = (page: Page, path: string, body: object) =>
    page.evaluate(
      async ([path, body]) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json' } }
        const answer = await fetch(path, { ...init, body: JSON.stringify(body) })
        if (!answer.ok) throw new Error(await answer.text())
        return (await answer.json()) as Record<string, unknown>
      },
      [path, body] as const,
    )
  const enter = async (page: Page, id: string) => {
    await go(page, `/rooms/${encodeURIComponent(`channel:${id}`)}`)
    await field(page).waitFor()
    await isLive(page)
  }
  /** Two guests in a channel of the first, and its id. */
  const pair = async () => {
    const [one, other] = [await plaza.guest(), await plaza.guest()]
    const made = await post(one, '/api/channels', { name: `Voice ${randomUUID().slice(0, 8)}` })
    const { id } = made.channel as { id: string }
    await post(other, `/api/channels/${id}/join`, {})
    for (const page of [one, other]) await enter(page, id)
    return { one, other, id }
  }
  const press = (page: Page, name: string | RegExp) =>
    page.getByRole('button', { name, exact: typeof name === 'string' }).click()
  const tray = (page: Page) => page.getByRole('list', { name: 'To be sent' })
  const spoken = (page: Page) => page.getByRole('region', { name: /^Voice message from/ })
  const begin = async (page: Page) => {
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Voice message/ }).click()
  }

  test('is recorded from the menu, heard before it is sent, sent once more where the storage was away, and played by another, on a desktop', async () => {
    const { one, other } = await pair()
    await begin(one)
    await expect.poll(() => one.getByRole('meter', { name: 'Loudness' }).getAttribute('value')).not.toBe('0')
    await press(one, 'Cancel the recording')
    expect(await tray(one).count()).toBe(0)

    await begin(one)
    // Long enough that a machine that is busy sees it being played.
    await one.getByRole('timer', { name: 'Recorded' }).getByText('0:06').waitFor()
    await press(one, 'Stop and listen')
    await tray(one)
      .getByRole('button', { name: /^Play, \d+ seconds?$/ })
      .click()
    await tray(one).getByRole('button', { name: 'Pause' }).waitFor()
    expect(await axeFaults(one)).toEqual([])

    let failures = 1
    await one.route('**/api/upload', async (route) => {
      if (failures-- <= 0) return route.continue()
      await route.fulfill({ status: 502, json: { error: 'Storage is away', code: 'UPSTREAM_ERROR' } })
    })
    await press(one, 'Send')
    await tray(one)
      .getByText(/^Not sent\./)
      .waitFor()
    await tray(one).getByRole('button', { name: 'Try again' }).click()
    await tray(one).waitFor({ state: 'detached' })
    await spoken(one).waitFor()

    await spoken(other)
      .getByRole('button', { name: /^Play, \d+ seconds?$/ })
      .waitFor()
    const bars = () =>
      spoken(other)
        .locator('rect')
        .evaluateAll((all) => new Set(all.map((bar) => bar.getAttribute('height'))).size)
    await expect.poll(bars).toBeGreaterThan(3)
    const position = spoken(other).getByRole('slider', { name: 'Position' })
    await position.fill('2')
    await press(other, /^Play, \d+ seconds?$/)
    await spoken(other).getByRole('button', { name: 'Pause' }).waitFor()
    expect(Number(await position.inputValue())).toBeGreaterThanOrEqual(2)
    // Played to its end, it stands at its beginning.
    await spoken(other).getByRole('button', { name: /^Play/ }).waitFor()
    await expect.poll(() => position.inputValue()).toBe('0')
    expect(await axeFaults(other)).toEqual([])
  })

  test('is a message of its kind, whose file is served as sound and goes with it', async () => {
    const { one, other, id } = await pair()
    await press(one, 'Record a voice message')
    await one.getByRole('timer', { name: 'Recorded' }).getByText('0:01').waitFor()
    await press(one, 'Stop and listen')
    await tray(one).getByRole('button', { name: /^Play/ }).waitFor()
    await press(one, 'Send')
    await spoken(other).waitFor()
    const told = await other.evaluate(async (id) => {
      const answer = await fetch(`/api/rooms/channel/${id}/messages`)
      const { messages } = (await answer.json()) as { messages: { content: string; message_type: string }[] }
      const { content = '', message_type } = messages.at(-1) ?? {}
      const [, seconds, url = ''] = /^\[VOICE:(\d+)\](.+)$/.exec(content) ?? []
      const { headers } = await fetch(url, { method: 'HEAD' })
      return { message_type, seconds, url, type: headers.get('content-type') }
    }, id)
    expect(told).toMatchObject({ message_type: 'voice', seconds: expect.stringMatching(/^[12]$/), type: 'audio/webm' })
    await post(one, '/api/chat-rules', { chatType: 'channel', chatId: id, rules: { voice_allowed: 'disabled' } })
    await one.getByRole('button', { name: 'Record a voice message' }).waitFor({ state: 'detached' })
    await spoken(one).hover()
    await one
      .locator('.messages__message.sent')
      .filter({ has: spoken(one) })
      .getByRole('button', { name: 'More' })
      .click()
    await one.getByRole('menuitem', { name: 'Delete' }).click()
    await spoken(other).waitFor({ state: 'detached' })
    const statusOf = (url: string) => fetch(url, { cache: 'no-store' }).then(({ status }) => status)
    await expect.poll(() => other.evaluate(statusOf, told.url)).toBe(404)
  })
})
