import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { field, go, line, openPlaza, say, startPoll } from './plaza.ts'

describe('the text of messages', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  test('M69: Markdown is rendered, code is highlighted, and each text has its own direction', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const mark = randomUUID()
    await say(page, `**bold** ${mark}\n\`\`\`ts\nconst answer = 42\n\`\`\``)
    const row = line(other, mark)
    await row.locator('strong', { hasText: 'bold' }).waitFor()
    await row.locator('.hljs-number', { hasText: '42' }).waitFor()
    await say(page, `שלום ${mark} עולם`)
    const right = line(other, `שלום ${mark}`).locator('[dir=auto]')
    await right.waitFor()
    expect(await right.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl')
  })

  test('M69: hostile texts run no script and send no request', async () => {
    const page = await plaza.guest()
    const dialogs: string[] = []
    page.on('dialog', async (dialog) => {
      dialogs.push(dialog.message())
      await dialog.dismiss()
    })
    const texts = [
      '<img src=https://canary.example/x onerror=alert(1)>',
      '**<script>alert(1)</script>**',
      '![x](https://canary.example/y.png)',
      '[x](javascript:alert(1))',
      '[![x](https://canary.example/z.png)](javascript:alert(1))',
    ]
    const mark = randomUUID()
    for (const [at, text] of texts.entries()) {
      await say(page, `${text} ${mark}${at}`)
      await line(page, `${mark}${at}`).and(page.locator('.sent')).waitFor()
    }
    expect(await page.locator('.messages__message :is(img, script, iframe, svg:not(.icon))').count()).toBe(0)
    expect(await page.locator('.messages__message a:not([href^="http"])').count()).toBe(0)
    expect(dialogs).toEqual([])
  })

  test('M69: emoji are inserted by name and by the picker, with the keyboard alone', async () => {
    const page = await plaza.guest()
    await field(page).pressSequentially('Well :smile')
    await page.getByRole('listbox', { name: 'Suggestions' }).getByRole('option').first().waitFor()
    expect(await field(page).getAttribute('aria-activedescendant')).toBe('completion-0')
    await page.keyboard.press('Enter')
    expect(await field(page).inputValue()).toBe('Well 😄 ')
    await field(page).pressSequentially(':heart:')
    expect(await field(page).inputValue()).toBe('Well 😄 ❤️')

    await field(page).fill('')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    const picker = page.getByRole('dialog', { name: 'Emoji' })
    await picker.waitFor()
    await page.keyboard.type('pineapple')
    await expect.poll(() => picker.locator('li').count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await picker.waitFor({ state: 'detached' })
    expect(await field(page).inputValue()).toBe('🍍')
    await page.keyboard.press('Enter')
    await page.locator('.messages__message.sent', { hasText: '🍍' }).waitFor()
  })

  test('M69: an emoji by name is replaced before the message is sent, even if the list loads late', async () => {
    const page = await plaza.guest()
    await page.route('**/assets/gemoji-*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      await route.continue()
    })
    const mark = randomUUID()
    await field(page).fill(`:rocket: and \`:heart:\` ${mark}`)
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await page.locator('.messages__message.sent', { hasText: mark }).getByText('🚀 and').waitFor()
    expect(await line(page, mark).count()).toBe(1)
    expect(await line(page, mark).innerText()).toContain(':heart:')
    expect(await field(page).inputValue()).toBe('')
  })

  test('M69: an emoji is inserted at the cursor, and the cursor is after it', async () => {
    const page = await plaza.guest()
    const text = () => field(page).inputValue()
    await field(page).pressSequentially('Well :smile')
    await page.getByRole('listbox').waitFor()
    await field(page).fill('left right')
    await page.keyboard.press('Home')
    await page.keyboard.type(':heart:a')
    expect(await text()).toBe('❤️aleft right')
    await page.keyboard.press('End')
    for (let step = 0; step < 5; step += 1) await page.keyboard.press('ArrowLeft')
    await page.keyboard.type(':smile')
    await page.getByRole('listbox').waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.type('b ')
    expect(await text()).toBe('❤️aleft 😄 b right')
    await page.getByRole('button', { name: 'Choose an emoji' }).click()
    await page.getByRole('searchbox', { name: 'Search emoji' }).fill('pineapple')
    await page.getByRole('dialog').locator('li button').click()
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.type('c ')
    expect(await text()).toBe('❤️aleft 😄 b 🍍c right')

    for (const kept of ['`:heart:', '```\n:heart:', 'a:heart:', '12:100:', ':no_such_thing:']) {
      await field(page).fill('')
      for (const [at, part] of kept.split('\n').entries()) {
        if (at > 0) await page.keyboard.press('Shift+Enter')
        await page.keyboard.type(part)
      }
      expect(await text()).toBe(kept)
    }
    await field(page).fill('a draft')
    await page.reload()
    await page.locator('#composer:focus').waitFor()
    await page.keyboard.type(' of mine')
    expect(await text()).toBe('a draft of mine')
  })

  test('M69: any emoji can be a reaction, with the keyboard alone', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    const mark = randomUUID()
    const beside = randomUUID()
    await say(other, beside)
    await line(page, beside).waitFor()
    await say(page, mark)
    await line(page, mark).and(page.locator('.sent')).focus()
    const picker = page.getByRole('dialog', { name: 'Emoji' })
    const ask = async () => {
      await page.keyboard.press('Enter')
      const item = page.getByRole('menu', { name: 'Reactions' }).getByRole('menuitem')
      await item.first().and(page.locator(':focus')).waitFor()
      await page.keyboard.press('ArrowUp')
      await item.last().and(page.locator(':focus')).waitFor()
      await page.keyboard.press('Enter')
      await picker.locator(':focus').waitFor()
    }
    await page.keyboard.press('Tab')
    await line(page, mark).getByRole('button', { name: 'React' }).and(page.locator(':focus')).waitFor()
    await ask()
    await page.keyboard.press('Escape')
    await picker.waitFor({ state: 'detached' })
    await line(page, mark).getByRole('button', { name: 'React' }).and(page.locator(':focus')).waitFor()
    // A pointer at rest fires this event when rows move below it.
    await line(page, beside).hover()
    await ask()
    await line(page, beside).dispatchEvent('mouseover')
    await page.keyboard.type('pineapple')
    await expect.poll(() => picker.locator('li').count()).toBe(1)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await line(other, mark).getByRole('button', { name: '🍍' }).waitFor()
    await picker.waitFor({ state: 'detached' })
    await line(page, mark).getByRole('button', { name: 'React' }).and(page.locator(':focus')).waitFor()
  })

  test('M69: a slash offers commands, and a hash links a room', async () => {
    const page = await plaza.guest()
    await field(page).pressSequentially('/po')
    await page.getByRole('option', { name: '/poll' }).waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Create poll' }).waitFor()
    await page.keyboard.press('Escape')
    expect(await field(page).inputValue()).toBe('')
    await field(page).pressSequentially('/nothing of that kind')
    expect(await page.getByRole('listbox').count()).toBe(0)
    await field(page).fill('')

    const name = `Garden ${randomUUID().slice(0, 8)}`
    await page.getByRole('button', { name: 'New room' }).click()
    await page.getByLabel('Name').fill(name)
    await page.getByRole('dialog', { name: 'New room' }).getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
    await go(page, '/rooms/alpha')
    await page.getByRole('heading', { level: 1, name: 'Alpha' }).waitFor()
    const mark = randomUUID()
    await field(page).pressSequentially(`${mark} #gard`)
    await page.getByRole('option', { name }).waitFor()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await line(page, mark).getByRole('link', { name: /^#/ }).click()
    await page.getByRole('heading', { level: 1, name }).waitFor()
  })

  test('M69: suggestions open after any dialog was closed, by pointer and by keyboard', async () => {
    const page = await plaza.guest()
    const dialog = page.locator('dialog[open]')
    for (const name of ['Make a poll', 'Choose an emoji', 'Settings'])
      for (const close of [() => page.keyboard.press('Escape'), () => dialog.getByLabel('Close').click()]) {
        if (name === 'Make a poll') await startPoll(page)
        else await page.getByRole('button', { name }).first().click()
        await dialog.waitFor()
        await close()
        await dialog.waitFor({ state: 'detached' })
        for (const word of ['@', '#al', '/', ':sm']) {
          await field(page).fill('')
          await field(page).pressSequentially(word)
          await page.getByRole('listbox', { name: 'Suggestions' }).waitFor()
          await page.keyboard.press('Escape')
          await page.getByRole('listbox').waitFor({ state: 'detached' })
        }
        await field(page).fill('')
      }
  })

  test('M69: the title and the icon show the unread count, and a switch turns on notifications of mentions', async () => {
    const [page, other] = [await plaza.guest(), await plaza.guest()]
    await page.context().grantPermissions(['notifications'], { origin: plaza.url })
    await page.addInitScript(() => {
      const told: string[] = []
      class Told extends EventTarget {
        static permission = 'granted'
        constructor(title: string, { body }: { body: string }) {
          super()
          told.push(`${title}: ${body}`)
        }
      }
      Object.assign(window, { Notification: Told, told })
      Object.defineProperty(document, 'hidden', { get: () => sessionStorage.getItem('hidden') === 'yes' })
    })
    await page.reload()
    await field(page).waitFor()
    await page.getByRole('button', { name: 'Settings' }).click()
    await page.getByRole('tab', { name: 'Notifications' }).click()
    await page.getByLabel('Direct messages and mentions while Plaza is in the background').check()
    await page.keyboard.press('Escape')
    await page.evaluate(() => {
      sessionStorage.setItem('hidden', 'yes')
      document.dispatchEvent(new Event('visibilitychange'))
    })
    const name = (await page.locator('.sidebar__me strong').innerText()).trim()
    await field(other).pressSequentially(`@${name.split(' ')[0]}`)
    await other.getByRole('option', { name }).first().click()
    await other.keyboard.press('Enter')
    await expect.poll(() => page.title()).toMatch(/^\([1-9]\d*\+?\) /)
    expect(await page.locator('link[rel=icon]').getAttribute('href')).toBe('/plaza-unread.svg')
    await expect
      .poll(() => page.evaluate(() => (window as unknown as { told: string[] }).told))
      .toEqual(['Alpha: Someone mentioned you.'])
    await page.evaluate(() => {
      sessionStorage.setItem('hidden', 'no')
      document.dispatchEvent(new Event('visibilitychange'))
    })
    await expect.poll(() => page.title()).toBe('Alpha · Plaza')
  })

  test('O26: Enter that ends a composition sends nothing, in no browser', async () => {
    const page = await plaza.guest()
    const mark = randomUUID()
    await field(page).fill(mark)
    const press = (composing: object) =>
      field(page).evaluate((element, more) => {
        const keys = { key: 'Enter', code: 'Enter', bubbles: true, cancelable: true }
        element.dispatchEvent(new KeyboardEvent('keydown', { ...keys, ...more }))
      }, composing)
    // As Chromium and Firefox tell of it, and as Safari does.
    for (const composing of [{ isComposing: true, keyCode: 229 }, { keyCode: 229 }]) await press(composing)
    expect(await field(page).inputValue()).toBe(mark)
    expect(await line(page, mark).count()).toBe(0)
    await press({ keyCode: 13 })
    await line(page, mark).waitFor()
    expect(await line(page, mark).count()).toBe(1)
  })
})
