import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { agents } from '#shared/api/agents/agents'
import { messages } from '#shared/api/rooms/messages'
import { alpha } from '#shared/kit/room-key'
import { personAt } from '#test/support/people'
import { puppetModel } from '#test/support/puppet-model'
import { wallet } from '#test/support/wallet'
import { axeFaults, field, go, isLive, line, openPlaza, phone, say } from './plaza.ts'

const puppet = puppetModel()

describe('agents in rooms, in the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  let agent: string
  beforeAll(async () => {
    plaza = await openPlaza({ services: { model: puppet.model }, environment: { ADMINS: wallet('admin').address } })
    const admin = await personAt(plaza.url, 'admin')
    const fields = { name: 'Harbour Guide', avatarEmoji: '⚓', visibility: 'official' } as const
    agent = (await admin.does('rest', agents.create, fields)).agent.id
    await admin.does('rest', agents.joinRoom, { id: agent, channelType: 'global' })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const writing = (page: Page) => page.getByRole('list', { name: 'Agents writing' })
  const isAtEnd = (page: Page) =>
    page.locator('.timeline').evaluate((box) => box.scrollHeight - box.scrollTop - box.clientHeight < 2)

  test('who is mentioned by completion answers word by word before everybody, on a phone', async () => {
    const [page, other] = [await plaza.guest(phone), await plaza.guest(phone)]
    await field(page).pressSequentially('@harb')
    const choice = page.getByRole('option', { name: 'Harbour Guide' })
    await choice.getByText('agent').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Enter')
    expect(await field(page).inputValue()).toBe('@Harbour Guide ')
    await field(page).pressSequentially('where is the sea?')
    await page.keyboard.press('Enter')
    const answer = await puppet.asked()
    expect(answer.question.turns.at(-1)?.content).toContain('@Harbour Guide where is the sea')
    for (const seen of [page, other]) {
      await line(seen, 'where is the sea?')
        .locator('.inline-text__mention', { hasText: '@Harbour Guide' })
        .first()
        .waitFor()
      await writing(seen).getByText('is writing').waitFor()
    }
    answer.say('Behind **the** ', 'dunes, ')
    await writing(other).getByText('dunes,').waitFor()
    for (const colorScheme of ['dark', 'light'] as const) {
      await other.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await axeFaults(other)).toEqual([])
    }
    const box = await writing(other).locator('.messages__being-written').boundingBox()
    answer.say('as ever.')
    answer.end()
    const said = line(other, 'dunes, as ever.')
    await said.locator('.chip', { hasText: 'agent' }).waitFor()
    await writing(other).waitFor({ state: 'detached' })
    expect(await said.count()).toBe(1)
    // O85: the agent that is mentioned is the one that speaks, and nobody else of its name.
    const mention = line(other, 'where is the sea?')
      .locator('.inline-text__mention', { hasText: '@Harbour Guide' })
      .first()
    expect(await mention.innerText()).toBe('@Harbour Guide')
    const after = await said.boundingBox()
    expect(Math.abs((after?.y ?? 0) - (box?.y ?? 0))).toBeLessThan(2)
    await expect.poll(() => isAtEnd(other)).toBe(true)
    await expect.poll(() => other.getByRole('log', { name: 'New messages' }).innerText()).toContain('dunes, as ever.')
  })

  test('a name that is typed mentions the agent too, also after a reload', async () => {
    const page = await plaza.guest()
    await field(page).fill('@Harbour Guide what is a draft?')
    await page.reload()
    await isLive(page)
    expect(await field(page).inputValue()).toBe('@Harbour Guide what is a draft?')
    await field(page).press('Enter')
    const answer = await puppet.asked()
    answer.say('This.')
    answer.end()
    await line(page, 'This.').waitFor()
  })

  test('what other clients write as @[name](id) is read as a name, wherever it is shown', async () => {
    const person = await personAt(plaza.url, 'somebody')
    const { message } = await person.does('rest', messages.send, {
      room: alpha,
      text: `@[Harbour Guide](${agent}) and the gulls?`,
    })
    const answer = await puppet.asked()
    answer.end()
    await person.does('rest', messages.send, { room: alpha, text: 'I ask again', reply_to: message.id })
    const page = await plaza.guest()
    await line(page, 'and the gulls?').locator('.inline-text__mention', { hasText: '@Harbour Guide' }).first().waitFor()
    await line(page, 'I ask again').locator('.messages__quote', { hasText: '@Harbour Guide and the gulls?' }).waitFor()
    await go(page, '/rooms/alpha/search')
    await page.getByRole('searchbox', { name: 'Search for' }).fill('gulls')
    await page.keyboard.press('Enter')
    await page.getByRole('list', { name: 'Results' }).getByText('@Harbour Guide and the gulls?').first().waitFor()
    expect(await page.getByText('@[').count()).toBe(0)
  })

  test('two answers are written at the same time, and the reader who has scrolled up stays where they are', async () => {
    const page = await plaza.guest({ viewport: { width: 390, height: 500 } })
    const asker = await plaza.guest()
    for (const question of ['one', 'two']) await say(asker, `@Harbour Guide tell me number ${question}`)
    const first = await puppet.asked()
    await writing(page).locator('.messages__being-written').nth(1).waitFor()
    first.say('One '.repeat(200))
    await writing(page).getByText('One One').waitFor()
    await expect.poll(() => isAtEnd(page)).toBe(true)
    await page.locator('.timeline').evaluate((box) => box.scrollTo({ top: 0 }))
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
    const at = await page.locator('.timeline').evaluate((box) => box.scrollTop)
    first.say('More '.repeat(100))
    await writing(page).getByText('More More').waitFor()
    expect(await page.locator('.timeline').evaluate((box) => box.scrollTop)).toBe(at)
    first.end()
    const second = await puppet.asked()
    second.say('Two')
    second.end()
    await writing(page).waitFor({ state: 'detached' })
  })
})
