import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { axeFaults, desktop, field, go, isLive, openPlaza, phone } from './plaza.ts'

/** A PDF of red pages, with a script and an address that are to be opened with it. */
function pdfOf(script: string, address: string, pages: number): Buffer {
  const red = '1 0 0 rg 0 0 100 100 re f'
  const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 100 100]/Contents 3 0 R/Resources<<>>>>'
  const kids = Array.from({ length: pages }, (_, at) => `${at + 4} 0 R`)
  const objects = [
    `<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(${script})/Next<</S/URI/URI(${address})>>>>>>`,
    `<</Type/Pages/Kids[${kids.join(' ')}]/Count ${pages}>>`,
    `<</Length ${red.length}>>stream\n${red}\nendstream`,
    ...kids.map(() => page),
  ]
  let text = '%PDF-1.4\n'
  const places = objects.map((object, at) => {
    const place = text.length
    text += `${at + 1} 0 obj${object}endobj\n`
    return `${String(place).padStart(10, '0')} 00000 n \n`
  })
  const table = text.length
  const size = objects.length + 1
  text += `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer<</Size ${size}/Root 1 0 R>>\nstartxref\n${table}\n%%EOF\n`
  return Buffer.from(text)
}

describe('files are sent', () => {
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
  const enter = async (page: Page, room: string) => {
    await go(page, `/rooms/${encodeURIComponent(room)}`)
    await field(page).waitFor()
    await isLive(page)
  }
  /** A channel of this guest's own, in which everybody may send files. */
  const channel = async (page: Page, files_allowed = 'everyone') => {
    const { channel } = (await post(page, '/api/channels', { name: `Files ${randomUUID().slice(0, 8)}` })) as {
      channel: { id: string }
    }
    await post(page, '/api/chat-rules', { chatType: 'channel', chatId: channel.id, rules: { files_allowed } })
    await enter(page, `channel:${channel.id}`)
    return channel.id
  }
  const pdf = { name: 'Plan for 2031.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4\n%%EOF\n') }
  const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Remember the milk.') }
  const program = { name: 'setup.exe', mimeType: 'application/octet-stream', buffer: Buffer.from('MZ') }
  const pick = (page: Page, files: { name: string; mimeType: string; buffer: Buffer }[]) =>
    page.locator('.attach-button__attach input[type=file]').setInputFiles(files)
  const tray = (page: Page) => page.getByRole('list', { name: 'To be sent' })
  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click()
  const card = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^File: .?${name}.?$`) })
  const downloaded = async (page: Page, name: string) => {
    const coming = page.waitForEvent('download')
    await card(page, name).getByText('Download', { exact: true }).click()
    const file = await coming
    return [file.suggestedFilename(), String(await readFile(await file.path()))]
  }

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'two at once are shown with name and size, sent in their order, and downloaded, on a %s',
    async (_name, device) => {
      const page = await plaza.guest(device)
      await channel(page)
      await press(page, 'Attach')
      await page.getByRole('menuitem', { name: /^File/ }).waitFor()
      expect(await axeFaults(page)).toEqual([])
      await page.keyboard.press('Escape')
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/api/upload/file', async (route) => {
        await held
        await route.continue()
      })
      await pick(page, [pdf, notes])
      await tray(page).getByText('15 bytes, not sent yet').waitFor()
      await tray(page).getByText('18 bytes, not sent yet').waitFor()
      expect(await axeFaults(page)).toEqual([])
      await press(page, 'Send')
      await tray(page).getByRole('progressbar', { name: 'Uploading Plan for 2031.pdf' }).waitFor()
      await tray(page).getByText('Waiting for the previous one').waitFor()
      release()
      await tray(page).waitFor({ state: 'detached' })
      await card(page, 'Plan for 2031.pdf').waitFor()
      await card(page, 'notes.txt').getByText('18 bytes').waitFor()
      expect(await page.getByRole('region', { name: /^File:/ }).count()).toBe(2)
      // Its name is said by the card alone.
      expect(await page.locator('.messages__message').getByText('notes.txt').count()).toBe(1)
      expect(await axeFaults(page)).toEqual([])
      expect(await downloaded(page, 'notes.txt')).toEqual(['notes.txt', 'Remember the milk.'])
      expect(await downloaded(page, 'Plan for 2031.pdf')).toEqual(['Plan for 2031.pdf', String(pdf.buffer)])
    },
  )

  test('one is cancelled, one that failed is tried again, and a program or a long file is refused in one sentence', async () => {
    const page = await plaza.guest()
    await channel(page)
    let failures = 1
    await page.route('**/api/upload/file', async (route) => {
      if (failures-- > 0)
        return route.fulfill({ status: 502, json: { error: 'Storage is away', code: 'UPSTREAM_ERROR' } })
      await route.continue()
    })
    await pick(page, [notes, pdf])
    await press(page, 'Remove: Plan for 2031.pdf')
    await press(page, 'Send')
    await tray(page)
      .getByText(/^Not sent\./)
      .waitFor()
    await tray(page).getByRole('button', { name: 'Try again' }).click()
    await tray(page).waitFor({ state: 'detached' })
    await card(page, 'notes.txt').waitFor()
    await pick(page, [program])
    await press(page, 'Send')
    await tray(page).getByText('Not sent. Programs and scripts cannot be sent here.').waitFor()
    // It would be refused again.
    expect(await tray(page).getByRole('button', { name: 'Try again' }).count()).toBe(0)
    await press(page, 'Remove: setup.exe')
    await pick(page, [{ ...notes, name: 'long.bin', buffer: Buffer.alloc(12 * 1024 * 1024, 'x') }])
    await press(page, 'Send')
    await tray(page).getByText('Not sent. This is 12 MB; at most 10 MB can be sent here.').waitFor()
    await press(page, 'Remove: long.bin')
    expect(await page.getByRole('region', { name: /^File:/ }).count()).toBe(1)
  })

  test('they are dropped and pasted where the rule allows them, and listed in the panel of media', async () => {
    const page = await plaza.guest()
    const id = await channel(page)
    const give = (kind: 'drop' | 'paste', name: string) =>
      page.evaluate(
        ([kind, name]) => {
          const data = new DataTransfer()
          data.items.add(new File(['words'], name, { type: 'text/csv' }))
          const target = document.getElementById('composer')
          const init = { bubbles: true, cancelable: true }
          if (kind === 'paste') target?.dispatchEvent(new ClipboardEvent('paste', { ...init, clipboardData: data }))
          else target?.dispatchEvent(new DragEvent('drop', { ...init, dataTransfer: data }))
        },
        [kind, name] as const,
      )
    await give('drop', 'dropped.csv')
    await give('paste', 'pasted.csv')
    await expect.poll(() => tray(page).getByText('not sent yet').count()).toBe(2)
    await press(page, 'Send')
    await card(page, 'pasted.csv').waitFor()
    await go(page, `/rooms/${encodeURIComponent(`channel:${id}`)}/media`)
    const list = page.getByRole('list', { name: 'Media' })
    await expect.poll(() => list.getByRole('region', { name: /^File:/ }).count()).toBe(2)
    await post(page, '/api/chat-rules', { chatType: 'channel', chatId: id, rules: { files_allowed: 'disabled' } })
    await enter(page, `channel:${id}`)
    await press(page, 'Attach')
    await page.getByRole('menuitem', { name: /^Location/ }).waitFor()
    await expect.poll(() => page.getByRole('menuitem', { name: /^File/ }).count()).toBe(0)
  })

  test('in a direct conversation they are sealed, and opened by the other person alone', async () => {
    const pages = [await plaza.guest(), await plaza.guest()] as const
    const accounts = await Promise.all(
      pages.map((page) =>
        page.evaluate(async () => {
          const { user } = (await (await fetch('/api/auth/session')).json()) as { user: { wallet_address: string } }
          return user.wallet_address
        }),
      ),
    )
    const room = `dm:${[...accounts].sort().join('~')}`
    for (const page of pages) await enter(page, room)
    const [one, other] = pages
    await pick(one, [notes])
    await press(one, 'Send')
    await tray(one).waitFor({ state: 'detached' })
    await card(other, 'notes.txt').waitFor()
    expect(await downloaded(other, 'notes.txt')).toEqual(['notes.txt', 'Remember the milk.'])
  })

  test('a PDF is drawn page by page, and nothing that is in it runs or is asked for', async () => {
    const page = await plaza.guest()
    await channel(page)
    await pick(page, [{ ...pdf, buffer: pdfOf('app.alert(1)', 'https://evil.example/x', 30) }, pdf])
    await press(page, 'Send')
    await tray(page).waitFor({ state: 'detached' })
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    page.on('dialog', (dialog) => {
      asked.push(dialog.message())
      void dialog.dismiss()
    })
    const worker = page.waitForResponse(/pdf\.worker/)
    await card(page, 'Plan for 2031.pdf').first().getByText('Open', { exact: true }).click()
    expect((await worker).headers()['content-security-policy']).toContain("default-src 'none'")
    const shown = page.getByRole('img', { name: 'Page 1', exact: true })
    // The page of the file is red.
    await expect
      .poll(() =>
        shown.evaluate((one) => [
          ...((one as HTMLCanvasElement).getContext('2d')?.getImageData(50, 50, 1, 1).data ?? []),
        ]),
      )
      .toEqual([255, 0, 0, 255])
    expect(await axeFaults(page)).toEqual([])
    // Pages that are far are not in memory.
    expect(await page.getByRole('img', { name: /^Page/ }).count()).toBeLessThan(10)
    await page.getByRole('dialog').getByRole('listitem').last().scrollIntoViewIfNeeded()
    await page.getByRole('img', { name: 'Page 30', exact: true }).waitFor()
    await shown.waitFor({ state: 'detached' })
    expect(asked.filter((one) => !one.startsWith(plaza.url))).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await card(page, 'Plan for 2031.pdf').last().getByText('Open', { exact: true }).click()
    await page.getByText('This PDF cannot be shown here. Download it instead.').waitFor()
  })
})
