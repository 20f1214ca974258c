import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { Streams } from '#server/domains/streams/streams/model'
import { fakeVideo } from '#server/ports/video/fake'
import { axeFaults, confirmAct, desktop, field, go, line, openPlaza, phone, pressInHeader, say } from './plaza.ts'

describe('livestreams in the page', () => {
  const video = fakeVideo()
  let plaza: Awaited<ReturnType<typeof openPlaza>>
  beforeAll(async () => {
    const at = (path: string) => `${plaza.url}${path}`
    const addresses = {
      whip: (key: string) => at(`/webrtc/${key}`),
      rtmp: (key: string) => `rtmp://localhost/live/${key}`,
      hls: (id: string) => at(`/hls/${id}/index.m3u8`),
      whep: (id: string) => at(`/webrtc/${id}`),
    }
    plaza = await openPlaza({ services: { video: { ...video, addresses } } })
  })
  afterAll(() => plaza.close())
  afterEach(() => plaza.settle())

  /** A guest account that has opened a stream, on its page. */
  async function streamer(title: string, device = desktop): Promise<{ page: Page; id: string; provided: string }> {
    const page = await plaza.guest(device)
    await go(page, '/live/new')
    await page.getByRole('textbox', { name: 'Title' }).fill(title)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: 'End stream' }).waitFor()
    const id = page.url().split('/live/')[1] ?? ''
    const stored = await Streams.findOne({ _id: id }).lean()
    return { page, id, provided: stored?.stream_id ?? '' }
  }
  const visitor = async (path: string, device: Parameters<typeof plaza.visit>[0] = phone): Promise<Page> => {
    const page = await plaza.visit(device)
    await page.goto(plaza.url + path)
    return page
  }
  const stageOf = (page: Page) => page.getByRole('region', { name: 'Livestream' })
  const end = async (page: Page) => {
    await page.getByRole('button', { name: 'End stream' }).click()
    await confirmAct(page, 'End stream')
  }
  /** Nobody is live any more. */
  const silence = async () => {
    for (const { stream_id } of await Streams.find({ status: 'live' }).lean()) video.stop(stream_id)
    await expect.poll(() => Streams.countDocuments({ status: 'live' })).toBe(0)
  }
  const recording = (id: string, provided: string) => {
    const none = { playbackId: 'p', durationSeconds: 65, sizeBytes: 2_000_000, error: null }
    const startedAt = new Date(Date.now() - 3_600_000)
    const asset = { ...none, assetId: `of ${id}`, streamId: provided, startedAt }
    const url = `${plaza.url}/recordings/${id}.mp4`
    return {
      make: () =>
        video.tellAsset({ ...asset, phase: 'processing', progress: 0.4, playbackUrl: null, downloadUrl: null }),
      end: () => video.tellAsset({ ...asset, phase: 'ready', progress: 1, playbackUrl: url, downloadUrl: url }),
    }
  }

  test('a stream is found where it is listed, watched in each of its states, and played again after its end', async () => {
    const { page: owner, id, provided } = await streamer('Morning on the square')
    const page = await plaza.guest()
    await go(page, '/live')
    await page.getByText('Nobody is live at the moment').waitFor()
    expect(await axeFaults(page)).toEqual([])
    video.publish(provided)
    await page.getByRole('link', { name: 'Morning on the square', exact: true }).click()
    const stage = stageOf(page)
    await stage.getByText('Live', { exact: true }).waitFor()
    await stage.getByText('1 watching, 1 at most').waitFor()
    await owner.getByText('Live. Everybody can watch. Picture arriving.').waitFor()
    video.interrupt(provided)
    await stage.getByText('The picture is away').waitFor()
    await stage.getByText(/It is waited for another \d+ s/).waitFor()
    await owner.getByText(/^Picture away\. Your picture is away\. No picture for \d+ s\.$/).waitFor()
    expect(await axeFaults(owner)).toEqual([])
    video.publish(provided)
    await stage.getByText('The picture is away').waitFor({ state: 'detached' })
    await end(owner)
    await stage.getByText('The stream has ended').waitFor()
    await stage.getByText('Its streamer ended it.').waitFor()
    const { make, end: made } = recording(id, provided)
    make()
    await stage.getByText('Is being made: 40 %').waitFor()
    made()
    await stage.getByText('1 min 5 s, 1.9 MB').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await stage.getByRole('button', { name: /^Play/ }).click()
    await stage.getByLabel('The recording of Morning on the square').waitFor()
    await stage.getByRole('button', { name: 'All recordings' }).click()
    await stage.getByRole('list', { name: 'Recordings' }).waitFor()
  })

  test('the first message takes somebody into the chat of a stream, and strangers read along, on a desktop', async () => {
    const { page: owner, id, provided } = await streamer('With a chat')
    video.publish(provided)
    const stranger = await visitor(`/live/${id}`, desktop)
    await stranger.getByText('Nothing said yet').waitFor()
    expect(await stranger.getByRole('textbox').count()).toBe(0)
    const fan = await plaza.guest()
    await go(fan, `/live/${id}`)
    await fan.getByRole('textbox', { name: 'Message' }).fill('From the first row')
    await fan.keyboard.press('Enter')
    await line(fan, 'From the first row').waitFor()
    await stranger.getByText('From the first row').waitFor()
    await line(owner, 'From the first row').waitFor()
    await say(owner, 'Welcome')
    await line(fan, 'Welcome').waitFor()
    await say(fan, 'Hello again')
    await stranger.getByText('Hello again').waitFor()
    for (const page of [owner, fan, stranger]) expect(await axeFaults(page)).toEqual([])
    await stranger.getByRole('button', { name: 'Sign in to talk' }).click()
    await stranger.getByRole('button', { name: 'Enter as guest' }).click()
    await stageOf(stranger).getByText('Live', { exact: true }).waitFor()
    await stranger.getByRole('textbox', { name: 'Message' }).waitFor()
    expect(stranger.url()).toContain(`/live/${id}`)
  })

  test('a streamer moderates the chat beside the own picture, which goes on', async () => {
    const { page, id } = await streamer('Under control')
    await page.getByRole('button', { name: 'Start a test stream' }).click()
    await page.getByLabel('Your own picture').waitFor()
    await page.getByRole('alert').getByText('The server does not take this stream').waitFor()
    await pressInHeader(page, 'Moderation')
    await page.getByRole('complementary', { name: 'Moderation' }).getByRole('tab', { name: 'Queue' }).waitFor()
    await page.getByLabel('Your own picture').waitFor()
    await go(page, '/rooms/alpha')
    await field(page).waitFor()
    await go(page, `/live/${id}`)
    await page.getByLabel('Your own picture').waitFor()
    await page.getByRole('button', { name: 'Stop the picture' }).click()
    await page.getByLabel('Your own picture').waitFor({ state: 'detached' })
  })

  test('a host turns microphone, camera and screen on and off while live, and the picture is wide on a desk', async () => {
    const { page } = await streamer('On a desk')
    await page.route('**/webrtc/**', async (route) => {
      const body = await page.evaluate(receive, route.request().postData() ?? '')
      await route.fulfill({ status: 201, contentType: 'application/sdp', body })
    })
    await page.evaluate(shareDrawing)
    const button = (name: string) => page.getByRole('button', { name, exact: true })
    await button('Camera').click()
    const own = page.getByLabel('Your own picture')
    const shapeOf = () => own.evaluate((one: HTMLVideoElement) => one.videoWidth / one.videoHeight)
    await expect.poll(shapeOf).toBeGreaterThan(1.3)
    await page.getByText('Preview: nobody sees it yet').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await button('Go live').click()
    await page.getByText('You are sending').waitFor()
    const received = () =>
      page.evaluate(() => {
        const { received: video } = window as unknown as { received: HTMLVideoElement }
        const canvas = document.createElement('canvas')
        Object.assign(canvas, { width: 8, height: 8 })
        const context = canvas.getContext('2d')
        context?.drawImage(video, 0, 0, 8, 8)
        const light = Math.max(...(context?.getImageData(0, 0, 8, 8).data.filter((_, at) => at % 4 < 3) ?? []))
        return { isDark: light < 40, shape: Math.round((video.videoWidth / video.videoHeight) * 10) / 10 }
      })
    const wide = await shapeOf().then((shape) => Math.round(shape * 10) / 10)
    await expect.poll(received, { timeout: 60_000 }).toEqual({ isDark: false, shape: wide })

    const level = page.getByRole('meter', { name: 'Microphone level' })
    const loudness = () => level.evaluate((one: HTMLMeterElement) => one.value)
    await expect.poll(loudness).toBeGreaterThan(0.1)
    await button('Microphone').click()
    await expect.poll(loudness).toBe(0)
    await button('Camera').click()
    await expect.poll(received, { timeout: 60_000 }).toMatchObject({ isDark: true })
    await button('Share the screen').click()
    await expect.poll(received, { timeout: 60_000 }).toEqual({ isDark: false, shape: 4 })
    await button('Stop sharing the screen').click()
    await expect.poll(received, { timeout: 60_000 }).toMatchObject({ isDark: true })
    await button('Camera').click()
    await expect.poll(received, { timeout: 60_000 }).toEqual({ isDark: false, shape: wide })
    await button('Choose devices').click()
    await page.getByRole('dialog', { name: 'Choose devices' }).getByRole('combobox', { name: 'Camera' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByText('You are sending').waitFor()
    expect(await axeFaults(page)).toEqual([])
  })

  test('a past stream is found, called otherwise and deleted by its owner alone', async () => {
    const { page: owner, id, provided } = await streamer('Evening on the square')
    video.publish(provided)
    await end(owner)
    await stageOf(owner).getByText('The stream has ended').waitFor()
    await owner.getByRole('button', { name: 'Edit', exact: true }).click()
    const form = owner.getByRole('dialog', { name: 'Edit the stream' })
    await form.getByLabel('Title').fill('Night on the square')
    await form.getByLabel('Description').fill('With lamps')
    expect(await axeFaults(owner)).toEqual([])
    await form.getByRole('button', { name: 'Save' }).click()
    await stageOf(owner).getByText('With lamps').waitFor()
    await stageOf(owner).getByRole('heading', { name: 'Night on the square' }).waitFor()

    const page = await plaza.guest(phone)
    await go(page, '/live')
    const past = page.getByRole('region', { name: 'Past streams' })
    const link = past.getByRole('link', { name: 'Night on the square' })
    await link.waitFor()
    await page.getByRole('searchbox', { name: 'Search streams' }).fill('day square')
    await past.getByText('No stream is found.').waitFor()
    await page.getByRole('searchbox', { name: 'Search streams' }).fill('NIGHT')
    expect(await axeFaults(page)).toEqual([])
    await link.click()
    await stageOf(page).getByText('The stream has ended').waitFor()
    expect(await page.getByRole('button', { name: 'Delete stream' }).count()).toBe(0)

    await owner.getByRole('button', { name: 'Delete stream' }).click()
    await confirmAct(owner, 'Delete stream')
    await owner.getByRole('region', { name: 'Past streams' }).waitFor()
    expect(owner.url()).toMatch(/\/live$/)
    expect(await Streams.countDocuments({ _id: id })).toBe(0)
  })

  test('the time is read off a test picture by a program', async () => {
    const { page } = await streamer('By the clock')
    await page.getByRole('button', { name: 'Start a test stream' }).click()
    await page.getByLabel('Your own picture').waitFor()
    const late = () =>
      page.evaluate(() => {
        const picture = document.querySelector<HTMLVideoElement>('video[aria-label="Your own picture"]')
        const canvas = document.createElement('canvas')
        ;[canvas.width, canvas.height] = [20, 30]
        const context = canvas.getContext('2d')
        if (!picture || !context) return Number.NaN
        context.drawImage(picture, 0, 0, 20, 30)
        let time = ''
        for (let at = 0; at < 48; at++)
          time += (context.getImageData(2 + (at % 16), 17 + Math.floor(at / 16), 1, 1).data[0] ?? 0) > 128 ? '1' : '0'
        return Math.abs(Date.now() - Number.parseInt(time, 2))
      })
    await expect.poll(late, { timeout: 60_000 }).toBeLessThan(10_000)
  })

  test('the sidebar says who is live, and how many more', async () => {
    await silence()
    const first = await streamer('First of two')
    const page = await plaza.guest()
    const entry = page.getByRole('navigation', { name: 'Places' })
    video.publish(first.provided)
    await entry.getByText('First of two').waitFor()
    const second = await streamer('Second of two')
    video.publish(second.provided)
    await entry.getByText('and 1 more').waitFor()
    for (const { provided } of [first, second]) video.stop(provided)
    await entry.getByText('Live now').waitFor({ state: 'detached' })
  })

  test.each([
    ['desktop', desktop],
    ['phone', phone],
  ])('the first page shows what is live with its chat, and leads there, on a %s', async (_, device) => {
    await silence()
    const { page: owner, provided } = await streamer(`First page, ${device.viewport.width}`)
    await say(owner, 'Seen by everybody')
    const page = await plaza.visit(device)
    await page.getByRole('button', { name: 'Enter as guest' }).waitFor()
    video.publish(provided)
    const preview = page.getByRole('region', { name: 'Live now' })
    await preview.scrollIntoViewIfNeeded()
    await preview.getByText('Seen by everybody').waitFor()
    const picture = preview.getByLabel(/^The picture of First page/)
    expect(await picture.evaluate((one: HTMLVideoElement) => [one.muted, one.playsInline])).toEqual([true, true])
    await preview.getByText('1 watching').waitFor()
    expect(await axeFaults(page)).toEqual([])
    await preview.getByRole('button', { name: 'Pause' }).click()
    await picture.waitFor({ state: 'detached' })
    await preview.getByRole('link', { name: /^First page/ }).click()
    await stageOf(page).getByText('Live', { exact: true }).waitFor()
    video.stop(provided)
  })

  test('the key of a stream is shown only while a button is held', async () => {
    const { page, id } = await streamer('With a key')
    const key = await page.evaluate(
      async (at) => (await (await fetch(`/api/streams/${at}`)).json()).stream.stream_key,
      id,
    )
    await page.getByText('Publish with OBS', { exact: true }).click()
    const show = page.getByRole('button', { name: 'Hold to show: Stream key' })
    expect(await page.content()).not.toContain(key)
    await show.hover()
    await page.mouse.down()
    await page.getByText(key, { exact: true }).waitFor()
    await page.mouse.up()
    await page.getByText(key, { exact: true }).waitFor({ state: 'detached' })
  })

  test('a link to a stream that is not there says so, to everybody', async () => {
    const signedIn = await plaza.guest()
    await go(signedIn, '/live/nothing')
    for (const page of [signedIn, await visitor('/live/nothing')])
      await page.getByText('There is no such stream. It may have been deleted.').waitFor()
  })

  test('strangers see who is live, and come in by a button', async () => {
    const { provided } = await streamer('For everybody')
    const page = await visitor('')
    await page.getByRole('button', { name: 'Live now' }).click()
    await page.getByRole('heading', { name: 'Live now' }).waitFor()
    video.publish(provided)
    const listed = page.getByRole('link', { name: 'For everybody' })
    await listed.waitFor()
    expect(await axeFaults(page)).toEqual([])
    await listed.click()
    await stageOf(page).getByText('Live', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Live now' }).click()
    video.stop(provided)
    await listed.waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('button', { name: 'Enter as guest' }).waitFor()
    await page.getByRole('button', { name: 'Live now' }).click()
    await page.getByRole('heading', { name: 'Live now' }).waitFor()
  })
})

/** Plays the server in the page: takes what is published, and shows it. */
async function receive(sdp: string): Promise<string> {
  const peer = new RTCPeerConnection()
  const video = document.createElement('video')
  const media = new MediaStream()
  Object.assign(video, { muted: true, autoplay: true, srcObject: media })
  Object.assign(window, { received: video })
  peer.addEventListener('track', ({ track }) => media.addTrack(track))
  await peer.setRemoteDescription({ type: 'offer', sdp })
  await peer.setLocalDescription()
  await new Promise<void>((resolve) => {
    const look = () => peer.iceGatheringState === 'complete' && resolve()
    peer.addEventListener('icegatheringstatechange', look)
    look()
  })
  void video.play()
  return peer.localDescription?.sdp ?? ''
}

/** A light drawing in the place of the screen. */
function shareDrawing(): void {
  navigator.mediaDevices.getDisplayMedia = async () => {
    const canvas = document.createElement('canvas')
    Object.assign(canvas, { width: 1_600, height: 400 })
    const drawing = canvas.getContext('2d')
    let turn = 0
    setInterval(() => {
      if (!drawing) return
      turn += 1
      drawing.fillStyle = turn % 2 ? '#ffffff' : '#eeeeee'
      drawing.fillRect(0, 0, 1_600, 400)
    }, 50)
    return canvas.captureStream(20)
  }
}
