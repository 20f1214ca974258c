import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Streams } from '#server/domains/streams/streams/model'
import { fakeVideo } from '#server/ports/video/fake'
import { axeFaults, desktop, go, openPlaza, phone } from './plaza.ts'

interface Publisher {
  send(isOn: boolean): Promise<void>
}

describe('the picture of a livestream in the page', () => {
  const video = fakeVideo()
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    const here = {
      whep: (id: string) => `${plaza.url}/webrtc/${id}`,
      hls: (id: string) => `${plaza.url}/hls/${id}/index.m3u8`,
    }
    plaza = await openPlaza({ services: { video: { ...video, addresses: { ...video.addresses, ...here } } } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** Somebody who watches a stream by WebRTC, as a publisher in the same page sends it. */
  async function watch(device: typeof desktop) {
    const owner = await plaza.guest()
    await go(owner, '/live/new')
    await owner.getByRole('textbox', { name: 'Title' }).fill('On the square')
    await owner.getByRole('button', { name: 'Continue' }).click()
    await owner.getByRole('button', { name: 'End stream' }).waitFor()
    const id = owner.url().split('/live/')[1] ?? ''
    const { stream_id } = (await Streams.findOne({ _id: id }).lean()) ?? {}
    if (!stream_id) throw new Error('There is no stream')
    video.publish(stream_id)
    const page = await plaza.visit(device)
    await page.route('**/webrtc/**', async (route) => {
      const body = await page.evaluate(answer, route.request().postData() ?? '')
      await route.fulfill({ status: 201, contentType: 'application/sdp', body })
    })
    await page.goto(`${plaza.url}/live/${id}`)
    return { page, interrupt: () => video.interrupt(stream_id) }
  }
  const send = (page: Page, isOn: boolean) =>
    page.evaluate((one) => (window as unknown as { publisher: Publisher }).publisher.send(one), isOn)
  const behind = (page: Page) => page.getByText(/^\d+\.\d s behind$/)

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])(
    'its sound is turned on and off by a button that a finger finds and nothing covers, on a %s',
    async (_, device) => {
      const { page, interrupt } = await watch(device)
      const isMuted = () => page.getByLabel(/^The picture of/).evaluate((one: HTMLVideoElement) => one.muted)
      const on = page.getByRole('button', { name: 'Turn the sound on' })
      await on.waitFor()
      interrupt()
      const words = page.getByText(/^The picture is away/).locator('..')
      await words.waitFor()
      const [place, above] = [await on.boundingBox(), await words.boundingBox()]
      if (!place || !above) throw new Error('They are not shown')
      expect(Math.min(place.width, place.height)).toBeGreaterThanOrEqual(44)
      expect(place.y).toBeGreaterThanOrEqual(above.y + above.height)
      expect(await axeFaults(page)).toEqual([])
      await on.click()
      expect(await isMuted()).toBe(false)
      const off = page.getByRole('button', { name: 'Turn the sound off' })
      const { width = 0, height = 0 } = (await off.boundingBox()) ?? {}
      expect(Math.min(width, height)).toBeGreaterThanOrEqual(44)
      await off.click()
      expect(await isMuted()).toBe(true)
      await on.waitFor()
    },
  )

  test('the picture is paused, heard, jumped to live, shown whole and shared, by buttons and by keys', async () => {
    const { page } = await watch(desktop)
    const shown = page.getByLabel(/^The picture of/)
    const state = () =>
      shown.evaluate(({ paused, muted, volume }: HTMLVideoElement) => ({
        paused,
        muted,
        volume: Math.round(volume * 10),
      }))
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    await behind(page).waitFor()
    await press('Pause')
    expect(await state()).toEqual({ paused: true, muted: true, volume: 10 })
    expect(await axeFaults(page)).toEqual([])
    await press('Jump to live')
    await expect.poll(state).toMatchObject({ paused: false })
    const volume = page.getByRole('slider', { name: 'Volume' })
    await volume.focus()
    await page.keyboard.press('End')
    expect(await state()).toEqual({ paused: false, muted: false, volume: 10 })
    await page.keyboard.press('ArrowLeft')
    expect(await state()).toMatchObject({ volume: 9 })

    const player = page.getByRole('group', { name: /^Player/ })
    await player.focus()
    for (const [key, next] of [
      ['k', { paused: true }],
      [' ', { paused: false }],
      ['m', { muted: true }],
      ['m', { muted: false, volume: 9 }],
      ['ArrowDown', { volume: 8 }],
      ['ArrowUp', { volume: 9 }],
      ['k', { paused: true }],
      ['l', { paused: false }],
    ] as const) {
      await page.keyboard.press(key)
      await expect.poll(state, { message: key }).toMatchObject(next)
    }
    await page.keyboard.press('f')
    await page.getByRole('button', { name: 'Leave full screen' }).waitFor()
    await page.keyboard.press('f')
    await page.getByRole('button', { name: 'Full screen', exact: true }).waitFor()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await press('Copy the link to this stream')
    await page.getByText('Link copied.').waitFor()
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url())
  })

  test('how far it is behind is said while it is shown, and not while it is paused or stands', async () => {
    const { page } = await watch(desktop)
    const shown = page.getByLabel(/^The picture of/)
    await behind(page).waitFor()
    await shown.evaluate((one: HTMLVideoElement) => one.pause())
    await behind(page).waitFor({ state: 'detached' })
    await shown.evaluate((one: HTMLVideoElement) => one.play())
    await behind(page).waitFor()
    await send(page, false)
    await behind(page).waitFor({ state: 'detached' })
    await send(page, true)
    await behind(page).waitFor()
  })
})

/** Plays the server in the page: answers an offer to watch with the picture of the browser's own camera. */
async function answer(sdp: string): Promise<string> {
  const camera = await navigator.mediaDevices.getUserMedia({ video: true, audio: true })
  const peer = new RTCPeerConnection()
  await peer.setRemoteDescription({ type: 'offer', sdp })
  const senders = camera.getTracks().map((track) => ({ track, sender: peer.addTrack(track, camera) }))
  await peer.setLocalDescription()
  await new Promise<void>((resolve) => {
    const look = () => peer.iceGatheringState === 'complete' && resolve()
    peer.addEventListener('icegatheringstatechange', look)
    look()
  })
  const publisher = {
    send: async (isOn: boolean) => {
      for (const { track, sender } of senders) await sender.replaceTrack(isOn ? track : null)
    },
  }
  Object.assign(window, { publisher })
  return peer.localDescription?.sdp ?? ''
}
