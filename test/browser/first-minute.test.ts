import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { becomeModerator, field, line, openPlaza, pressIn, say, trouble } from './plaza.ts'

/** The first minute of a new visitor, in a browser. */
describe('the page', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>

  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  const guest = () => plaza.guest()

  test('a guest signs in and sends, and a second tab sees it', async () => {
    const [one, other] = [await guest(), await guest()]
    const text = `Hello ${randomUUID()}`
    await say(one, text)
    await line(one, text).waitFor()
    await line(other, text).waitFor()
    await one.locator('.messages__message.sent', { hasText: text }).waitFor()
    expect(await line(other, text).count()).toBe(1)
  })

  test('a reload keeps the session and the draft', async () => {
    const page = await guest()
    await field(page).fill('half a thought')
    await page.reload()
    await field(page).waitFor()
    expect(await field(page).inputValue()).toBe('half a thought')
  })

  test('a refused link shows the verdict card, and why', async () => {
    const [moderator, other] = [await guest(), await guest()]
    await becomeModerator(moderator)
    await moderator.getByRole('switch', { name: 'Links' }).click()
    await other.getByText('links off').waitFor()
    await say(other, 'Look at https://example.org/x')

    const card = other.getByRole('region', { name: 'Message blocked' })
    await card.getByText('Links are not allowed').waitFor()
    await card.getByText('Check 9 of 11: Links').waitFor()
    await card.getByRole('button', { name: 'Why?' }).click()
    const why = other.getByRole('dialog', { name: 'How messages are checked' })
    expect(await why.getByRole('listitem').count()).toBe(11)
    await other.keyboard.press('Escape')
    await why.waitFor({ state: 'detached' })

    await card.getByRole('button', { name: 'Edit' }).click()
    expect(await field(other).inputValue()).toBe('Look at https://example.org/x')
    await card.waitFor({ state: 'detached' })
    await moderator.getByRole('switch', { name: 'Links' }).click()
    await other.getByText('links off').waitFor({ state: 'detached' })
  })

  test('a mute shows its remaining time at once, and is listed in the log', async () => {
    const [moderator, other] = [await guest(), await guest()]
    await becomeModerator(moderator)
    const text = `Too loud ${randomUUID()}`
    await say(other, text)
    await line(moderator, text).hover()
    await line(moderator, text).getByRole('button', { name: 'Mute 1 h' }).click()
    await pressIn(moderator, 'Mute')

    await other.getByText('You are muted in this room').waitFor()
    expect(await other.getByRole('timer').filter({ hasText: 'left' }).innerText()).toMatch(/^(1 h|59 min)/)
    expect(await field(other).isDisabled()).toBe(true)
    await moderator.getByRole('list', { name: 'Moderation log' }).getByText('muted').first().waitFor()
    await moderator.getByText(/muted for 1 h.* in \d+ ms/).waitFor()
  })

  test('a moderator acts on a message by single keys, only while its row has the focus', async () => {
    const [moderator, other] = [await guest(), await guest()]
    await becomeModerator(moderator)
    const text = `By keys ${randomUUID()}`
    await say(other, text)
    const row = line(moderator, text)
    await row.waitFor()

    await field(moderator).fill('d')
    await moderator.keyboard.press('1')
    expect(await field(moderator).inputValue()).toBe('d1')
    await field(moderator).fill('')

    await row.focus()
    await moderator.keyboard.press('p')
    await moderator.getByText(/Pinned, in effect everywhere in \d+ ms/).waitFor()
    await moderator.keyboard.press('1')
    await moderator.getByRole('dialog', { name: 'Mute' }).locator('button:focus', { hasText: 'Mute' }).waitFor()
    await moderator.keyboard.press('Enter')
    await moderator.getByText(/muted for 1 h.* in \d+ ms/).waitFor()
    await other.getByText('You are muted in this room').waitFor()
    await moderator.keyboard.press('b')
    await moderator
      .getByRole('dialog', { name: /^Ban: / })
      .getByRole('button', { name: 'Permanently', pressed: true })
      .waitFor()
    await moderator.keyboard.press('Escape')
    await moderator.keyboard.press('d')
    await moderator.getByText(/Deleted, .* in \d+ ms/).waitFor()
    await other.getByText('Message deleted by a moderator').last().waitFor()
    expect(await field(other).isVisible()).toBe(true)

    await moderator.keyboard.press('?')
    await moderator.getByRole('dialog', { name: 'Keyboard' }).getByText('Delete message').waitFor()
  })

  test('M65: slow mode counts down, continues after a reload, and does not disable kinds of content', async () => {
    const [moderator, other] = [await guest(), await guest()]
    await becomeModerator(moderator)
    await moderator.getByLabel('Slow mode').selectOption('60')
    await other.getByText('slow mode 1 min').waitFor()
    await say(other, `Slowly ${randomUUID()}`)
    await other.getByText(/next message in \d+ s/).waitFor()
    expect(await other.getByText(/(links|polls) off/).count()).toBe(0)
    await other.getByRole('button', { name: 'Attach' }).click()
    await other.getByRole('menuitem', { name: /^Poll/ }).waitFor()
    await other.reload()
    await other.getByText(/next message in \d+ s/).waitFor()
    expect(await other.getByText(/(links|polls) off/).count()).toBe(0)
    await moderator.getByLabel('Slow mode').selectOption('0')
    await moderator.getByRole('switch', { name: 'Read-only' }).click()
    await other.getByText('read-only', { exact: true }).waitFor()
    expect(await other.getByText(/(links|polls) off/).count()).toBe(0)
    await moderator.getByRole('switch', { name: 'Read-only' }).click()
    await other.getByText('read-only', { exact: true }).waitFor({ state: 'detached' })
  })

  test('after a dropped connection everything is there, in order', async () => {
    const [one, other] = [await guest(), await guest()]
    await one.getByRole('button', { name: 'Drop my connection' }).click()
    await trouble(one).getByText('You disconnected.').waitFor()
    const word = randomUUID()
    for (let count = 1; count <= 4; count++) await say(other, `${word} ${count}`)
    await say(one, `${word} mine`)
    await line(one, `${word} mine`).getByText('Waiting for connection').waitFor()
    await line(other, `${word} 4`).and(other.locator('.sent')).waitFor()

    await one.getByRole('button', { name: 'Reconnect' }).click()
    await one.getByText(/Caught up: \d+ events?, 0 gaps/).waitFor()
    await line(other, `${word} mine`).waitFor()
    const shown = await line(one, word).locator('.text').allInnerTexts()
    expect(shown).toEqual([1, 2, 3, 4, 'mine'].map((end) => `${word} ${end}`))
  })

  test('M07: a direct conversation is end-to-end encrypted between two browsers, also after a reload, and both compare one number', async () => {
    const [one, other] = [await guest(), await guest()]
    const [greeting, secret] = [`Over here ${randomUUID()}`, `Between us ${randomUUID()}`]
    await say(other, greeting)
    await line(one, greeting)
      .getByRole('button', { name: /^Profile of/ })
      .first()
      .click()
    await one.getByRole('dialog').getByRole('button', { name: 'Message' }).click()
    await one.getByText('End-to-end encrypted').waitFor()
    await say(one, secret)
    await one.locator('.messages__message.sent', { hasText: secret }).waitFor()
    const direct = other.getByRole('navigation', { name: 'Your rooms' }).getByRole('link', { name: /Direct message/ })
    await direct.click()
    await line(other, secret).waitFor()
    await say(other, `${secret} too`)
    await line(one, `${secret} too`).waitFor()
    await other.reload()
    await line(other, `${secret} too`).waitFor()
    const numbers = await Promise.all(
      [one, other].map(async (page) => {
        await page.getByRole('button', { name: 'End-to-end encrypted' }).click()
        const groups = page.getByRole('list', { name: 'Safety number' }).getByRole('listitem')
        await groups.first().waitFor()
        return groups.allInnerTexts()
      }),
    )
    expect(numbers[0]).toEqual(numbers[1])
    expect(numbers[0]).toHaveLength(12)
    expect(numbers[0]?.every((group) => /^\d{5}$/.test(group))).toBe(true)
  })
})
