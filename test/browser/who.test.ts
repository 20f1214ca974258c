import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { desktop, isLive, line, openPlaza, phone, say, startPoll } from './plaza.ts'

describe('who reacted, and who voted', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const nameOf = async (page: Page, text: string) => {
    await line(page, text).waitFor()
    return (await line(page, text).locator('.messages__who').count()) > 0
      ? line(page, text).locator('.messages__who').innerText()
      : null
  }
  const reaction = (page: Page, said: string, isMine: boolean) =>
    line(page, said).getByRole('button', { name: '🎉', pressed: isMine })
  const react = async (page: Page, said: string) => {
    await line(page, said).and(page.locator('.sent')).hover()
    await line(page, said).getByRole('button', { name: 'React', exact: true }).click()
    await page.getByRole('menuitem', { name: '🎉' }).click()
  }

  test('N57: the own reaction is marked, also after a reload, without a call of its own; pointing at it names who reacted', async () => {
    const [one, other] = [await plaza.guest(), await plaza.guest()]
    const said = randomUUID()
    await say(one, said)
    await react(one, said)
    await reaction(one, said, true).waitFor()
    await reaction(other, said, false).click()
    await reaction(other, said, true).waitFor()
    await say(other, `${said} too`)
    const name = await nameOf(one, `${said} too`)

    const asked: string[] = []
    one.on('request', (request) => asked.push(request.url()))
    await one.reload()
    await isLive(one)
    await reaction(one, said, true).waitFor()
    expect(asked.filter((url) => url.includes('/reactions'))).toEqual([])
    await reaction(one, said, true).hover()
    await one.getByRole('tooltip').getByText(`You and ${name} reacted with 🎉`).waitFor()
    await one.mouse.move(5, 5)
    await one.getByRole('tooltip').waitFor({ state: 'detached' })

    await line(one, said).first().getByRole('button', { name: 'Who reacted' }).click()
    const dialog = one.getByRole('dialog', { name: 'Reactions' })
    expect(await dialog.getByRole('listitem').count()).toBe(2)
    await one.keyboard.press('Escape')
    await reaction(one, said, true).click()
    await reaction(one, said, false).waitFor()
  })

  test('N57: a long press on a phone shows who reacted, and reacts with nothing', async () => {
    const [one, other] = [await plaza.guest(phone), await plaza.guest()]
    const said = randomUUID()
    await say(other, said)
    await react(other, said)
    const button = reaction(one, said, false)
    await button.waitFor()
    await button.dispatchEvent('pointerdown', { pointerType: 'touch', bubbles: true })
    const dialog = one.getByRole('dialog', { name: 'Reactions' })
    await dialog.getByRole('listitem').first().waitFor()
    await button.dispatchEvent('pointerup', { pointerType: 'touch', bubbles: true })
    await button.dispatchEvent('click')
    await one.keyboard.press('Escape')
    await reaction(one, said, false).waitFor()
  })

  test('N57: who voted is named in an open poll, and in no anonymous one', async () => {
    const [one, other] = [await plaza.guest({ ...desktop }), await plaza.guest()]
    for (const isAnonymous of [false, true]) {
      const question = `Tea ${randomUUID()}`
      await startPoll(one)
      const form = one.getByRole('dialog', { name: 'Create poll' })
      await form.getByLabel('Question').fill(question)
      await form.getByLabel('Answer 1').fill('Yes')
      await form.getByLabel('Answer 2').fill('No')
      if (isAnonymous) await form.getByLabel(/who voted/).check()
      await form.getByRole('button', { name: 'Create poll' }).click()
      const poll = (page: Page) => page.getByRole('region', { name: `Poll: ${question}` })
      await poll(other).getByRole('button', { name: /^Yes/ }).click()
      await poll(one).getByText('1 vote').waitFor()
      const who = poll(one).getByRole('button', { name: 'Who voted' })
      expect(await who.count()).toBe(isAnonymous ? 0 : 1)
      await poll(one).getByRole('button', { name: /^Yes/ }).hover()
      if (isAnonymous) continue
      await one.getByRole('tooltip').getByText(/\S/).waitFor()
      await who.click()
      const dialog = one.getByRole('dialog', { name: 'Votes' })
      await dialog.getByRole('region', { name: 'Yes' }).getByRole('listitem').waitFor()
      expect(await dialog.getByRole('region').count()).toBe(1)
      await one.keyboard.press('Escape')
    }
  })
})
