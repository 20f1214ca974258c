import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { chromium as driver } from 'playwright-core'
import { build } from 'vite'
import { expect, test } from 'vitest'
import { certificateText, certify, verify } from '#client/sdk/direct/certificate'
import { newKeys, openKey, publicKeyOf, sealKey } from '#client/sdk/direct/envelope'
import { openMessage, sealMessage } from '#client/sdk/direct/message'
import { heavy } from '#test/support/heavy'
import { solana } from '#test/support/solana'
import { chromium } from '#test/support/test-servers'
import { wallet } from '#test/support/wallet'
import { sharedKeyVectorsHold, vectorsHold } from './direct-vectors.ts'

const read = (name: string) => JSON.parse(readFileSync(new URL(`../vectors/${name}.json`, import.meta.url), 'utf8'))
const [vectors, sharedKeyVectors] = [read('direct-messages'), read('shared-key-messages')]
const held = { key: true, message: true, sealedAgain: true, safetyNumber: true }

test('the vectors of envelope, message and safety number hold in Node', async () => {
  expect(await vectorsHold(vectors)).toEqual(held)
})

test('the vectors of messages under a shared key hold in Node', async () => {
  expect(await sharedKeyVectorsHold(sharedKeyVectors)).toEqual([true, true])
})

test.runIf(chromium)(
  'the vectors of envelope, messages and safety number hold in Chromium',
  { ...heavy, timeout: 60_000 },
  async () => {
    const entry = new URL('./direct-vectors.ts', import.meta.url).pathname
    const built = await build({
      configFile: false,
      logLevel: 'error',
      build: { write: false, lib: { entry, formats: ['es'], fileName: 'vectors' }, target: 'es2023' },
    })
    const output = (built as unknown as { output: { fileName: string; code: string }[] }[]).flatMap((one) => one.output)
    const server = createServer(({ url }, response) => {
      const script = output.find(({ fileName }) => url === `/${fileName}`)
      response.setHeader('content-type', script ? 'text/javascript' : 'text/html')
      response.end(script?.code ?? '<!doctype html>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const browser = await driver.launch({ executablePath: chromium ?? '', args: ['--no-sandbox'] })
    try {
      const page = await browser.newPage()
      await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
      const run = (name: string, given: object) =>
        page.evaluate(`import("/vectors.js").then((held) => held.${name}(${JSON.stringify(given)}))`)
      expect(await run('vectorsHold', vectors)).toEqual(held)
      expect(await run('sharedKeyVectorsHold', sharedKeyVectors)).toEqual([true, true])
    } finally {
      await browser.close()
      server.close()
    }
  },
)

const dm = '0xa~0xb'
const [epoch, device] = ['AAECAwQFBgcICQoLDA0ODw', 'EBESExQVFhcYGRobHB0eHw']

test('an envelope opens for its device, conversation, epoch and sender alone', async () => {
  const [one, two, other] = await Promise.all([newKeys(false), newKeys(false), newKeys(false)])
  const key = crypto.getRandomValues(new Uint8Array(32))
  const use = { dm, epoch, device }
  const envelope = await sealKey(key, one, await publicKeyOf(two), use)
  const by = await publicKeyOf(one)
  expect([envelope.enc.length, envelope.sealed.length]).toEqual([87, 64])
  expect(await openKey(envelope, two, by, use)).toEqual(key)
  const theirs = await publicKeyOf(other)
  for (const changed of [
    () => openKey(envelope, other, by, use),
    () => openKey(envelope, two, theirs, use),
    () => openKey(envelope, two, by, { ...use, dm: '0xa~0xc' }),
    () => openKey(envelope, two, by, { ...use, epoch: device }),
    () => openKey(envelope, two, by, { ...use, device: epoch }),
  ])
    await expect(changed()).rejects.toThrow()
  await expect(crypto.subtle.exportKey('jwk', one.privateKey)).rejects.toThrow()
})

test('a message opens in its conversation, from its sender, under its id alone, and with no bit changed', async () => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const place = { dm, sender: '0xa', client_msg_id: 'one' }
  const inner = { type: 'text', text: 'hello', client_msg_id: 'one' } as const
  const text = await sealMessage(key, epoch, place, inner)
  expect(await openMessage(key, place, text)).toEqual(inner)
  for (const other of [{ dm: '0xa~0xc' }, { sender: '0xb' }, { client_msg_id: 'two' }])
    await expect(openMessage(key, { ...place, ...other }, text)).rejects.toThrow()
  const bytes = Buffer.from(text, 'base64')
  for (let at = 17; at < bytes.length; at++) {
    const changed = Buffer.from(bytes.map((byte, of) => (of === at ? byte ^ 1 : byte))).toString('base64')
    await expect(openMessage(key, place, changed)).rejects.toThrow()
  }
})

test.each<[string, object | null]>([
  ['attachments that are no list', { attachments: {} }],
  ['an attachment without an address', { attachments: [{ url: 'nonsense' }] }],
  ['an attachment that runs', { attachments: [{ url: 'javascript:alert(1)//' }] }],
  ['eleven attachments', { attachments: Array.from({ length: 11 }, () => ({ url: 'https://a.example/' })) }],
  ['a name that is null', { mentions: [null] }],
  ['a name outside of the text', { mentions: [{ kind: 'user', id: '0xb', start: 3, len: 9 }] }],
  ['a type that people do not send', { type: 'system' }],
  ['the type of a welcome', { type: 'welcome' }],
  ['a type that there is not', { type: 'html' }],
  ['a reply to what is no id', { reply_to: { id: 1 } }],
  ['media of what is no epoch', { media_epoch: 5 }],
  ['a salt that is none', { media_salt: 'x' }],
  ['a text that cannot be seen', { text: ' \u200b' }],
  ['no text', { text: undefined }],
  ['another id', { client_msg_id: 'two' }],
  ['nothing', null],
])('a sealed message with %s is no message', async (_, spoilt) => {
  const key = crypto.getRandomValues(new Uint8Array(32))
  const place = { dm, sender: '0xa', client_msg_id: 'one' }
  const inner = spoilt && { type: 'text', text: 'hello', client_msg_id: 'one', ...spoilt }
  const sealed = await sealMessage(key, epoch, place, inner as never)
  await expect(openMessage(key, place, sealed)).rejects.toThrow('no message')
})

const host = 'plaza.example'
const ethereum = {
  address: wallet('certified').address.toLowerCase(),
  signMessage: (message: string) => wallet('certified').signMessage({ message }),
}

test('a certificate of a wallet is of its account, device, key and server alone', async () => {
  const public_key = await publicKeyOf(await newKeys(false))
  const claimed = { address: ethereum.address, device_id: device, public_key }
  const certificate = await certify(claimed, host, 0, ethereum)
  expect(certificateText(claimed, { host, issued_at: 'now' }).split('\n')).toHaveLength(6)
  expect(await verify({ ...claimed, certificate }, host)).toBe('valid')
  const others = [
    { device_id: epoch },
    { public_key: await publicKeyOf(await newKeys(false)) },
    { address: wallet('another').address.toLowerCase() },
    { certificate: certificate && { ...certificate, issued_at: '2026-01-01T00:00:00.000Z' } },
    { certificate: certificate && { ...certificate, scheme: 'ed25519' as const } },
  ]
  for (const other of others) expect(await verify({ ...claimed, certificate, ...other }, host)).toBe('invalid')
  expect(await verify({ ...claimed, certificate }, 'evil.example')).toBe('none')
  expect(await verify({ ...claimed, certificate: null }, host)).toBe('none')
})

test('a certificate of a Solana account is verified by its address', async () => {
  const { address, sign } = solana('certified')
  const claimed = { address, device_id: device, public_key: await publicKeyOf(await newKeys(false)) }
  const certificate = await certify(claimed, host, 0, { address, signMessage: async (message) => sign(message) })
  expect(await verify({ ...claimed, certificate }, host)).toBe('valid')
  expect(await verify({ ...claimed, device_id: epoch, certificate }, host)).toBe('invalid')
})
