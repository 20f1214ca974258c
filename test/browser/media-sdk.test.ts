import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import type { Route } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type * as Sdk from '#client/sdk/index'
import { openPlaza } from './plaza.ts'

declare global {
  interface Window {
    sdk: typeof Sdk
  }
}

interface Vector {
  keyHex: string
  plaintextUtf8: string | null
  blobHex: string
}
const { vectors } = JSON.parse(readFileSync('test/vectors/aes-gcm-blob.json', 'utf8')) as { vectors: Vector[] }

describe('the SDK in Chromium', () => {
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  const folder = mkdtempSync(join(tmpdir(), 'plaza-sdk-'))
  beforeAll(async () => {
    plaza = await openPlaza()
    execFileSync(process.execPath, ['scripts/pack-sdk.mjs', folder], { stdio: 'ignore' })
  }, 180_000)
  afterAll(async () => {
    await plaza.close()
    rmSync(folder, { recursive: true, force: true })
  })
  afterEach(() => plaza.settle())

  const guest = async () => {
    const page = await plaza.guest()
    const give = (route: Route, body: string) => route.fulfill({ contentType: 'text/javascript', body })
    await page.route('**/sdk/*.js', (route) =>
      give(route, readFileSync(join(folder, basename(route.request().url())), 'utf8')),
    )
    await page.route('**/start.js', (route) => give(route, 'import * as sdk from "/sdk/browser.js"; window.sdk = sdk'))
    await page.addScriptTag({ url: '/start.js', type: 'module' })
    return page
  }

  test.each(vectors)('opens the vector $blobHex as Node does', async ({ keyHex, plaintextUtf8, blobHex }) => {
    const page = await guest()
    const opened = await page.evaluate(
      ([keyHex, blobHex]) => {
        const { decryptMedia } = window.sdk
        const bytes = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16))
        return decryptMedia(bytes(blobHex), bytes(keyHex)).then(
          (blob) => blob.text(),
          (error: Error) => `refused: ${error.message}`,
        )
      },
      [keyHex, blobHex] as const,
    )
    if (plaintextUtf8 === null) expect(opened).toMatch(/^refused: .*cannot be opened/)
    else expect(opened).toBe(plaintextUtf8)
  })

  test('tells how much of a file is sent, and stops an upload that is aborted', async () => {
    const page = await guest()
    const devtools = await page.context().newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 0,
      downloadThroughput: -1,
      uploadThroughput: 1_500_000,
    })
    const { told, marker, refused, sealed } = await page.evaluate(async () => {
      const { createClient, decryptMedia, mediaIn, uploadImage } = window.sdk
      const client = createClient({ url: location.origin, session: 'cookie', transport: 'rest' })
      const key = crypto.getRandomValues(new Uint8Array(32))
      const image = new Blob([new Uint8Array(1_000_000)], { type: 'image/png' })
      const upload = { image, key, conversationId: 'sdk' }
      const told: number[] = []
      const { marker } = await uploadImage(client, upload, { onProgress: (share) => told.push(share) })
      const named = mediaIn(marker)
      const stored = named && 'url' in named ? await (await fetch(named.url)).blob() : new Blob()
      const opened = await decryptMedia(stored, key)
      const abort = new AbortController()
      const asked = uploadImage(client, upload, { signal: abort.signal, onProgress: () => abort.abort() })
      const refused = await asked.then(
        () => false,
        () => true,
      )
      client.close()
      return { told, marker, refused, sealed: [stored.size - opened.size, opened.size] }
    })
    expect(marker).toMatch(/^\[ENC_IMAGE:image\/png\]http/)
    expect(sealed).toEqual([28, 1_000_000])
    expect(told.length).toBeGreaterThan(2)
    expect(told).toEqual([...told].sort((one, other) => one - other))
    expect(told.at(-1)).toBe(1)
    expect(told[0]).toBeLessThan(1)
    expect(refused).toBe(true)
  })
})
