import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { localStorage } from '#server/ports/storage/local'
import { type Person, personAt } from '#test/support/people'
import { gifOf, jpegOf, pngOf } from '#test/support/pictures'
import { openPlaza } from './plaza.ts'

let folder: string
let plaza: Awaited<ReturnType<typeof openPlaza>>
let who: Person
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'plaza-polyglots-'))
  plaza = await openPlaza({ services: { storage: await localStorage(folder) } })
  who = await personAt(plaza.url, 'polyglot')
})
afterAll(async () => {
  await plaza.close()
  await rm(folder, { recursive: true, force: true })
})

/** Whatever of this runs asks for an address with `ran` in it, or opens a dialog. */
const act = () => `new Image().src='${plaza.url}/ran?'+document.domain;alert(1)`
const html = () => `<html><body><script>${act()}</script><img src=x onerror="${act()}"></body></html>`
const svg = () =>
  `<svg xmlns="http://www.w3.org/2000/svg" onload="${act()}"><script>${act()}</script><rect width="9" height="9"/></svg>`
const pdf = () =>
  `%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction<</S/JavaScript/JS(app.alert(1))>>>>endobj\n${html()}\n%%EOF`
/** A comment right behind the first marker. */
function commented(jpeg: Buffer, text: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(text.length + 2)
  return Buffer.concat([jpeg.subarray(0, 2), Buffer.from([0xff, 0xfe]), length, Buffer.from(text), jpeg.subarray(2)])
}
const film = (head: string) => Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(`*/=1;${act()};/*${html()}`)])

const sealed: [what: string, make: () => string | Buffer][] = [
  ['HTML', html],
  ['an SVG image', svg],
  ['XHTML', () => `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${act()}</script></html>`],
  ['a script', () => `${act()};//`.padEnd(100)],
  ['a PDF document', pdf],
  ['HTML in a JPEG image', () => commented(jpegOf(), html())],
  [
    'a page archive',
    () =>
      `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n${html()}\r\n--b--`,
  ],
]
const pictures: typeof sealed = [
  ['HTML in a JPEG image', () => commented(jpegOf(), html())],
  ['HTML behind a PNG image', () => Buffer.concat([pngOf(), Buffer.from(html())])],
  ['HTML behind a GIF image', () => Buffer.concat([gifOf(), Buffer.from(html())])],
]
const films: typeof sealed = [
  ['HTML in an MP4 film', () => film('\0\0\0\x20ftypisom')],
  ['HTML in a QuickTime film', () => film('\0\0\0\x14ftypqt  ')],
  ['HTML in a WebM film', () => film('\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm')],
]
const gifScript = () => `GIF89a/*${'x'.repeat(40)}*/=1;${act()}`
const all = [
  { what: 'a script that begins as a GIF image', make: gifScript, path: '/api/upload/voice' },
  ...sealed.map(([what, make]) => ({ what, make, path: '/api/upload/image' })),
  ...sealed.map(([what, make]) => ({ what, make, path: '/api/upload/voice' })),
  ...pictures.map(([what, make]) => ({ what, make, path: '/api/upload' })),
  ...films.map(([what, make]) => ({ what, make, path: '/api/bug-reports/upload' })),
]

async function upload(path: string, bytes: string | Buffer): Promise<{ status: number; text: string }> {
  const body = new FormData()
  if (path !== '/api/upload' && !path.includes('bug')) body.set('conversationId', path)
  body.set('file', new Blob([new Uint8Array(Buffer.from(bytes))], { type: 'text/html' }), 'x.html')
  const headers = { authorization: `Bearer ${who.token}` }
  const answer = await fetch(`${plaza.url}${path}`, { method: 'POST', headers, body })
  return { status: answer.status, text: await answer.text() }
}

async function stored(path: string, bytes: string | Buffer): Promise<string> {
  const { status, text } = await upload(path, bytes)
  expect(status, text).toBe(200)
  return (JSON.parse(text) as { url?: string }).url ?? ''
}

/** What ran in this browser. */
function watched(context: BrowserContext): string[] {
  const ran: string[] = []
  context.on('request', (asked) => {
    if (asked.url().includes('/ran')) ran.push(asked.url())
  })
  context.on('dialog', (dialog) => {
    ran.push(dialog.message())
    void dialog.dismiss()
  })
  return ran
}

/** A page that has this file as everything that a page can have. */
const pageWith = (url: string) =>
  ['iframe', 'script', 'embed', 'img', 'video controls']
    .map((tag) => `<${tag} src="${url}"></${tag.split(' ')[0]}>`)
    .join('')
    .concat(`<object data="${url}"></object><link rel="stylesheet" href="${url}"><p id="end">end</p>`)

describe('T24: a stored file runs nothing in a browser', () => {
  test.each(all)('$what, by $path', async ({ make, path }) => {
    const url = await stored(path, make())
    const page = await plaza.visit()
    const context = page.context()
    const ran = watched(context)
    // What is an attachment is no page, and going there ends in a download.
    await page.goto(url, { timeout: 10_000 }).catch((error: Error) => expect(error.message).toContain('Download'))
    const other = await context.newPage()
    await other.setContent(pageWith(url), { waitUntil: 'domcontentloaded' })
    await other.evaluate(`import(${JSON.stringify(url)}).catch(() => null)`)
    await other.waitForTimeout(300)
    expect(ran).toEqual([])
    // The watch would have seen it.
    await other.setContent(`<script>new Image().src='${plaza.url}/ran'</script>`)
    await expect.poll(() => ran.length).toBeGreaterThan(0)
    await context.close()
  })

  test('a script that begins as a GIF image is no image', async () => {
    expect(await upload('/api/upload/image', gifScript())).toMatchObject({ status: 415 })
  })
})
