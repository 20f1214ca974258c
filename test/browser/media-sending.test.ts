import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, desktop, field, go, isLive, line, openPlaza, phone, say } from './plaza.ts'

describe('media are sent', () => {
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
  const accountOf = (page: Page) =>
    page.evaluate(async () => {
      const { user } = (await (await fetch('/api/auth/session')).json()) as { user: { wallet_address: string } }
      return user.wallet_address
    })
  /** A channel of this guest's own. */
  const channel = async (page: Page) => {
    const { channel } = (await post(page, '/api/channels', { name: `Media ${randomUUID().slice(0, 8)}` })) as {
      channel: { id: string }
    }
    await enter(page, `channel:${channel.id}`)
    return channel.id
  }
  const enter = async (page: Page, room: string) => {
    await go(page, `/rooms/${encodeURIComponent(room)}`)
    await field(page).waitFor()
    await isLive(page)
  }
  /** Two guests in their direct conversation. */
  const pair = async () => {
    const pages = [await plaza.guest(), await plaza.guest()] as const
    const accounts = await Promise.all(pages.map(accountOf))
    const room = `dm:${[...accounts].sort().join('~')}`
    for (const page of pages) await enter(page, room)
    return pages
  }
  /** A picture made in the page: its left half in one colour, its right in white. */
  const picture = async (page: Page, width: number, colour: string, type = 'image/jpeg') => {
    const bytes = await page.evaluate(
      async ([width, colour, type, height]) => {
        const canvas = document.createElement('canvas')
        canvas.width = width
        canvas.height = height
        const context = canvas.getContext('2d')
        if (!context) throw new Error('no canvas')
        context.fillStyle = 'white'
        context.fillRect(0, 0, width, height)
        context.fillStyle = colour
        context.fillRect(0, 0, width / 2, height)
        const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, type))
        return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))]
      },
      [width, colour, type, width / 2] as const,
    )
    return { name: `${colour}.jpg`, mimeType: type, buffer: Buffer.from(bytes) }
  }
  const pick = (page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) =>
    page.locator('.attach-button__attach input[type=file]').setInputFiles(files)
  const tray = (page: Page) => page.getByRole('list', { name: 'To be sent' })
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const pictures = (page: Page) => page.locator('.messages__message.sent .media__picture img')
  const loaded = (page: Page, count: number) =>
    expect
      .poll(() =>
        pictures(page).evaluateAll((all) => all.filter((one) => (one as HTMLImageElement).naturalWidth > 0).length),
      )
      .toBe(count)
  /** The colour of the left half of each picture of the room, in their order. */
  const colours = (page: Page) =>
    pictures(page).evaluateAll((all) =>
      all.map((one) => {
        const canvas = document.createElement('canvas')
        const context = canvas.getContext('2d')
        context?.drawImage(one as HTMLImageElement, 0, 0, 100, 50)
        const [red = 0, green = 0, blue = 0] = context?.getImageData(10, 10, 1, 1).data ?? []
        return red > 150 ? 'red' : green > 90 ? 'green' : blue > 150 ? 'blue' : `${red} ${green} ${blue}`
      }),
    )

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'several photos are shown before they are sent, are scaled down, and stand in their order, on a %s',
    async (_name, device) => {
      const page = await plaza.guest(device)
      await channel(page)
      await press(page, 'Attach')
      await page.getByRole('menuitem', { name: /^Photo or GIF/ }).waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.keyboard.press('Escape')
      await pick(page, [
        await picture(page, 3_000, 'red'),
        await picture(page, 400, 'green'),
        await picture(page, 400, 'blue'),
      ])
      await expect.poll(() => tray(page).getByText('not sent yet').count()).toBe(3)
      expect(await tray(page).locator('img').count()).toBe(3)
      expect(await axeFaults(page)).toEqual([])
      expect(await pictures(page).count()).toBe(0)
      await press(page, 'Remove: green.jpg')
      await field(page).fill('Two photos')
      await press(page, 'Send')
      await tray(page).waitFor({ state: 'detached' })
      await loaded(page, 2)
      expect(await colours(page)).toEqual(['red', 'blue'])
      await line(page, 'Two photos').waitFor()
      expect(
        await pictures(page)
          .first()
          .evaluate((one) => (one as HTMLImageElement).naturalWidth),
      ).toBe(2_048)
      const { status, type, head } = await page.evaluate(
        async (url) => {
          const answer = await fetch(url)
          const bytes = new Uint8Array(await answer.arrayBuffer())
          return { status: answer.status, type: answer.headers.get('content-type'), head: [...bytes.slice(0, 3)] }
        },
        (await pictures(page).first().getAttribute('src')) ?? '',
      )
      expect({ status, type, head }).toEqual({ status: 200, type: 'image/jpeg', head: [0xff, 0xd8, 0xff] })
    },
  )

  test('the browser asks before it leaves a page on which something is picked and not sent', async () => {
    const page = await plaza.guest()
    await channel(page)
    const asked: string[] = []
    page.on('dialog', (dialog) => {
      asked.push(dialog.type())
      void dialog.dismiss()
    })
    await pick(page, [await picture(page, 100, 'red')])
    await tray(page).getByText('not sent yet').waitFor()
    await field(page).click()
    await page.evaluate(() => location.reload())
    await expect.poll(() => asked).toEqual(['beforeunload'])
    await tray(page).getByText('not sent yet').waitFor()
    await press(page, 'Remove: red.jpg')
    await tray(page).waitFor({ state: 'detached' })
    await page.reload()
    await field(page).waitFor()
    expect(asked).toEqual(['beforeunload'])
  })

  test('an upload tells how far it is, is cancelled, and is tried again; the order stays', async () => {
    const page = await plaza.guest()
    await channel(page)
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    let failures = 1
    await page.route('**/api/upload', async (route) => {
      const body = route.request().postDataBuffer() ?? Buffer.alloc(0)
      if (body.length < 6_000) await held
      else if (failures-- > 0)
        return route.fulfill({ status: 502, json: { error: 'Storage is away', code: 'UPSTREAM_ERROR' } })
      await route.continue().catch(() => {})
    })
    await pick(page, [
      await picture(page, 200, 'red'),
      await picture(page, 2_000, 'green'),
      await picture(page, 200, 'blue'),
    ])
    await expect.poll(() => tray(page).getByText('not sent yet').count()).toBe(3)
    await press(page, 'Send')
    await tray(page).getByRole('progressbar', { name: 'Uploading red.jpg' }).waitFor()
    expect(await tray(page).getByText('Waiting for the previous one').count()).toBe(2)
    await press(page, 'Cancel: red.jpg')
    await tray(page)
      .getByText(/^Not sent\. A service/)
      .waitFor()
    expect(await pictures(page).count()).toBe(0)
    release()
    await tray(page).getByRole('button', { name: 'Try again' }).click()
    await tray(page).waitFor({ state: 'detached' })
    await loaded(page, 2)
    expect(await colours(page)).toEqual(['green', 'blue'])
  })

  test('pictures are dropped and pasted; what is no picture, or too large, is said before anything is sent', async () => {
    const page = await plaza.guest()
    await channel(page)
    const asked: string[] = []
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().includes('/api/upload')) asked.push(request.url())
    })
    const { buffer } = await picture(page, 100, 'blue', 'image/png')
    const give = (kind: 'drop' | 'paste', name: string, type: string, bytes: number[], repeat = 1) =>
      page.evaluate(
        ([kind, name, type, bytes, repeat]) => {
          const data = new DataTransfer()
          data.items.add(
            new File(
              Array.from({ length: repeat }, () => new Uint8Array(bytes)),
              name,
              { type },
            ),
          )
          const target = document.getElementById('composer')
          const init = { bubbles: true, cancelable: true }
          if (kind === 'paste') target?.dispatchEvent(new ClipboardEvent('paste', { ...init, clipboardData: data }))
          else {
            target?.dispatchEvent(new DragEvent('dragover', { ...init, dataTransfer: data }))
            target?.dispatchEvent(new DragEvent('drop', { ...init, dataTransfer: data }))
          }
        },
        [kind, name, type, bytes, repeat] as const,
      )
    await give('drop', 'dropped.png', 'image/png', [...buffer])
    await give('paste', 'pasted.png', 'image/png', [...buffer])
    await expect.poll(() => tray(page).getByText('not sent yet').count()).toBe(2)
    await give('drop', 'notes.txt', 'text/plain', [65])
    await page.locator('.toasts').getByText('Files are off in this room.').waitFor()
    await give('drop', 'drawing.svg', 'image/svg+xml', [65])
    await tray(page).getByText('Only pictures can be sent').waitFor()
    await give('drop', 'broken.png', 'image/png', [1, 2, 3])
    await tray(page).getByText('Your browser cannot open this picture.').waitFor()
    await give(
      'drop',
      'long.gif',
      'image/gif',
      Array.from({ length: 1_024 }, () => 0),
      6_000,
    )
    await tray(page).getByText('This is 5.9 MB; at most 5 MB can be sent here.').waitFor()
    expect(asked).toEqual([])
    await press(page, 'Send')
    await loaded(page, 2)
    await tray(page).waitFor({ state: 'detached' })
  })

  test('a photo that a quota refuses is told which one is spent, and when more can be sent', async () => {
    const page = await plaza.guest()
    await channel(page)
    const spent = 'You have uploaded as much as a day allows (100 MB)'
    const body = { error: spent, code: 'RATE_LIMIT_EXCEEDED', retryAfter: 7_500 }
    await page.route('**/api/upload', (route) => route.fulfill({ status: 429, json: body }))
    await pick(page, [await picture(page, 100, 'red')])
    await tray(page).getByText('not sent yet').waitFor()
    await press(page, 'Send')
    await tray(page).getByText(`Not sent. ${spent}. More can be sent in 2 h 5 min.`).waitFor()
    await page.unrouteAll()
    await tray(page).getByRole('button', { name: 'Try again' }).click()
    await loaded(page, 1)
  })

  test('what the rules of a room forbid is not offered, and a photo that they forbid meanwhile is refused by the verdict', async () => {
    const owner = await plaza.guest()
    const id = await channel(owner)
    const page = await plaza.guest()
    await post(page, `/api/channels/${id}/join`, {})
    await enter(page, `channel:${id}`)
    await pick(page, [await picture(page, 100, 'red')])
    await tray(page).getByText('not sent yet').waitFor()
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    await page.route('**/api/upload', async (route) => {
      await held
      await route.continue()
    })
    await press(page, 'Send')
    await tray(page).getByRole('progressbar').waitFor()
    const rules = { photos_allowed: 'disabled', gifs_allowed: 'disabled', pixel_art_allowed: 'disabled' }
    await post(owner, '/api/chat-rules', { chatType: 'channel', chatId: id, rules })
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Location/ }).waitFor()
    await expect.poll(() => page.getByRole('menuitem', { name: /Photo|GIF|Pixel/ }).count()).toBe(0)
    await page.keyboard.press('Escape')
    release()
    const refused = page.getByRole('region', { name: 'Message blocked' })
    await refused.getByText('Photos are not allowed').waitFor()
    expect(await refused.getByRole('button', { name: 'Edit' }).count()).toBe(0)
    await refused.getByRole('button', { name: 'Discard' }).click()
    await refused.waitFor({ state: 'detached' })
  })

  test('pixel art is drawn by pointer and by keyboard, a step is taken back, and it is sent', async () => {
    const page = await plaza.guest()
    await channel(page)
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Pixel art/ }).click()
    const editor = page.getByRole('dialog', { name: 'Pixel art' })
    const board = editor.getByRole('application', { name: 'Drawing of 16 by 16 cells' })
    const attach = editor.getByRole('button', { name: 'Attach' })
    expect(await attach.isDisabled()).toBe(true)
    await editor.getByRole('button', { name: 'Red' }).click()
    await board.focus()
    for (const key of ['ArrowRight', 'ArrowDown', 'Space']) await page.keyboard.press(key)
    await editor.getByText('Row 2, column 2: Red').waitFor()
    for (const key of ['ArrowRight', 'Space', 'Control+z']) await page.keyboard.press(key)
    await editor.getByText('Row 2, column 3: White').waitFor()
    await editor.getByRole('button', { name: 'Blue', exact: true }).click()
    const { x, y, width } = (await board.boundingBox()) ?? { x: 0, y: 0, width: 0 }
    const cell = (at: number) => (width / 16) * (at + 0.5)
    await page.mouse.move(x + cell(4), y + cell(8))
    await page.mouse.down()
    await page.mouse.move(x + cell(12), y + cell(8))
    await page.mouse.up()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await axeFaults(page)).toEqual([])
    }
    await page.keyboard.press('Escape')
    await editor.waitFor({ state: 'detached' })
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Pixel art/ }).click()
    await attach.click()
    await tray(page).getByText('not sent yet').waitFor()
    await press(page, 'Send')
    await loaded(page, 1)
    expect(await pictures(page).getAttribute('alt')).toMatch(/^Pixel art from/)
    const cells = await pictures(page).evaluate((one) => {
      const canvas = document.createElement('canvas')
      canvas.width = 16
      canvas.height = 16
      const context = canvas.getContext('2d')
      if (context) context.imageSmoothingEnabled = false
      context?.drawImage(one as HTMLImageElement, 0, 0, 16, 16)
      const at = (column: number, row: number) => [...(context?.getImageData(column, row, 1, 1).data ?? [])].slice(0, 3)
      return [at(1, 1), at(2, 1), at(4, 8), at(8, 8), at(12, 8), at(13, 8)]
    })
    const [red, white, blue] = [
      [209, 59, 59],
      [255, 255, 255],
      [47, 98, 201],
    ]
    expect(cells).toEqual([red, white, blue, blue, blue, white])
  })

  test('a location is asked for by a press alone, is rounded, and is refused in words', async () => {
    const geolocation = { latitude: 52.516_274_1, longitude: 13.377_704_2 }
    const page = await plaza.guest({ ...desktop, geolocation, permissions: ['geolocation'] })
    await channel(page)
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Location/ }).click()
    const form = page.getByRole('dialog', { name: 'Send a location' })
    expect(await form.getByRole('region', { name: 'Location' }).count()).toBe(0)
    await form.getByRole('button', { name: 'Find my location' }).click()
    await form.getByText('52.516° N, 13.378° E').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await say(page, Array.from({ length: 60 }, (_, at) => `line ${at}`).join('\n'))
    await line(page, 'line 59').waitFor()
    await page.locator('.timeline').evaluate((one) => one.scrollTo({ top: 0 }))
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor()
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Location/ }).click()
    await form.getByRole('button', { name: 'Find my location' }).click()
    await form.getByRole('button', { name: /^Send/ }).click()
    await page.getByRole('button', { name: 'Jump to latest' }).waitFor({ state: 'detached' })
    await page.locator('.messages__message.sent').getByText('52.516° N, 13.378° E').waitFor()

    await page.context().clearPermissions()
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Location/ }).click()
    await form.getByRole('button', { name: 'Find my location' }).click()
    await form.getByText('Location access was denied.').waitFor()
    await page.keyboard.press('Escape')
  })

  test('a voice message is recorded, heard before it is sent, and played by the other; a changed one is not', async () => {
    const [one, other] = await pair()
    await press(one, 'Record a voice message')
    await one.getByRole('button', { name: 'Cancel the recording' }).waitFor()
    await expect.poll(() => one.getByRole('meter', { name: 'Loudness' }).getAttribute('value')).not.toBe('0')
    await press(one, 'Cancel the recording')
    expect(await tray(one).count()).toBe(0)

    const room = one.url()
    await press(one, 'Record a voice message')
    await one.getByRole('timer', { name: 'Recorded' }).getByText('0:01').waitFor()
    await go(one, '/rooms/alpha')
    await one.getByText('Your recording is kept').waitFor()
    await go(one, new URL(room).pathname)
    await tray(one).getByRole('button', { name: /^Play/ }).waitFor()
    await press(one, 'Remove: Voice message')

    await press(one, 'Record a voice message')
    await one.getByRole('timer', { name: 'Recorded' }).getByText('0:02').waitFor()
    expect(await axeFaults(one)).toEqual([])
    await press(one, 'Stop and listen')
    await tray(one)
      .getByRole('button', { name: /^Play, \d+ seconds?$/ })
      .click()
    await tray(one).getByRole('button', { name: 'Pause' }).waitFor()
    await expect.poll(() => tray(one).getByRole('slider', { name: 'Position' }).inputValue()).not.toBe('0')
    await press(one, 'Send')
    await one.getByRole('region', { name: /^Voice message from/ }).waitFor()

    const told = other.getByRole('region', { name: /^Voice message from/ })
    await told.getByRole('button', { name: /^Play, \d+ seconds?$/ }).waitFor()
    const heights = () =>
      told.locator('rect').evaluateAll((bars) => new Set(bars.map((bar) => bar.getAttribute('height'))).size)
    await expect.poll(heights).toBeGreaterThan(3)
    await told.getByRole('slider', { name: 'Position' }).focus()
    await other.keyboard.press('End')
    await other.keyboard.press('Home')
    await told.getByRole('button', { name: /^Play/ }).click()
    await told.getByRole('button', { name: 'Pause' }).waitFor()
    await told.getByRole('button', { name: /^Play/ }).waitFor()
    expect(await axeFaults(other)).toEqual([])

    await other.route('**/files/**', async (route) => {
      const answer = await route.fetch()
      const body = await answer.body()
      body[40] = (body[40] ?? 0) ^ 1
      await route.fulfill({ response: answer, body })
    })
    await other.reload()
    await other.getByText('it has another key, or was changed').waitFor()
    await other.unroute('**/files/**')
    await other.getByRole('button', { name: 'Try again' }).click()
    await told.getByRole('button', { name: /^Play/ }).waitFor()
  })

  test('T25, T26: in a direct conversation, whose texts no server judges, nothing is loaded from elsewhere', async () => {
    const [one, other] = await pair()
    const elsewhere = 'https://canary.invalid/a.png'
    const beside = `${plaza.url}/files/../api/status`
    const texts = [
      ...['[IMAGE]', '[GIF]', '[ENC_IMAGE:image/png]', '[VOICE:3]', '[PIXEL_ART]'].map((tag) => `${tag}${elsewhere}`),
      ...[`[IMAGE]${beside}`, `[VOICE:2]${beside}`, '[IMAGE]javascript:alert(1)'],
    ]
    for (const text of texts) await say(one, text)
    await expect.poll(() => other.getByText('This is on another server, and is not loaded.').count()).toBe(texts.length)
    await say(one, `[ENC_IMAGE:image/svg+xml]${plaza.url}/files/chat-images/encrypted/a/b.enc`)
    await other.getByText('This type of picture cannot be shown.').waitFor()
    expect(await other.locator('.messages__message img').count()).toBe(0)
  })

  test('a photo in a direct conversation is stored sealed, and is opened by the other', async () => {
    const [one, other] = await pair()
    await pick(one, [await picture(one, 300, 'green')])
    await tray(one).getByText('not sent yet').waitFor()
    const stored = one.waitForResponse((response) => response.url().includes('/api/upload/image'))
    await press(one, 'Send')
    const { url } = (await (await stored).json()) as { url: string }
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
    expect(bytes.includes(Buffer.from('JFIF'))).toBe(false)
    await loaded(other, 1)
    expect(await colours(other)).toEqual(['green'])
    expect(await pictures(other).getAttribute('src')).toMatch(/^blob:/)
  })
})
