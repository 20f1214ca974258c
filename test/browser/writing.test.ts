import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { line, openPlaza, say } from './plaza.ts'

describe('what is written', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    plaza = await openPlaza()
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  test('M69: Markdown is shown, code is coloured, and each text runs its own way', async () => {
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

  test('M69: hostile texts run nothing and ask nobody', async () => {
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
    expect(await page.locator('.message :is(img, script, iframe, svg:not(.icon))').count()).toBe(0)
    expect(await page.locator('.message a:not([href^="http"])').count()).toBe(0)
    expect(dialogs).toEqual([])
  })
})
