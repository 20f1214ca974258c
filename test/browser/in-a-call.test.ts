import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Calls } from '#server/domains/meetings/calls/model'
import { calls, ringSeconds } from '#shared/api/meetings/calls'
import { meetings } from '#shared/api/meetings/meetings'
import { accounts } from '#shared/api/people/accounts'
import { personAt } from '#test/support/people'
import { axeFaults, desktop, go, isLive, openPlaza, phone } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza()
})
afterAll(() => plaza.close())

const accountOf = (page: Page): Promise<string> =>
  page.evaluate(async () => {
    const answer = await fetch('/api/auth/session')
    return ((await answer.json()) as { userAddress: string }).userAddress
  })
/** The address of a meeting of somebody who is signed in. */
async function meetingOf(page: Page): Promise<string> {
  const { room } = await plaza.node.callAs(await accountOf(page), meetings.create, {})
  return `${plaza.url}/room/${room.joinCode}`
}
async function enter(page: Page, address: string, name?: string): Promise<void> {
  await page.goto(address)
  if (name) await page.getByLabel('Your name').fill(name)
  await page.getByRole('button', { name: 'Enter the meeting' }).click()
  await page.getByRole('button', { name: 'Leave' }).waitFor()
}
const pictureOf = (page: Page, name: string) => page.getByRole('figure', { name, exact: true })
const isSeen = (page: Page, name: string) =>
  expect
    .poll(
      () =>
        pictureOf(page, name)
          .locator('video')
          .evaluate((one: HTMLVideoElement) => one.videoWidth),
      { timeout: 60_000 },
    )
    .toBeGreaterThan(0)
/** A browser that shares a drawing in the place of its screen. */
const withScreen = (page: Page) =>
  page.addInitScript(() => {
    navigator.mediaDevices.getDisplayMedia = async () => {
      const canvas = document.createElement('canvas')
      Object.assign(canvas, { width: 1_600, height: 400 })
      const drawing = canvas.getContext('2d')
      let turn = 0
      setInterval(() => {
        turn += 10
        drawing?.fillRect(turn % 1_600, 0, 5, 400)
      }, 50)
      return canvas.captureStream(20)
    }
  })
/** As the browser tells a page of a device that is unplugged, or of a screen whose bar was pressed. */
const endTrack = (page: Page) =>
  pictureOf(page, 'You')
    .locator('video')
    .evaluate((video: HTMLVideoElement) => {
      const [track] = (video.srcObject as MediaStream).getVideoTracks()
      track?.dispatchEvent(new Event('ended'))
    })

/** A headless browser gives each document other ids of the same devices. Here they stay, as where a permission is kept. */
function nameDevices(): void {
  const { mediaDevices } = navigator
  const list = mediaDevices.enumerateDevices.bind(mediaDevices)
  const take = mediaDevices.getUserMedia.bind(mediaDevices)
  mediaDevices.enumerateDevices = async () =>
    (await list()).map(({ kind, label, groupId }) => ({
      ...{ kind, label, groupId, toJSON: () => ({}) },
      deviceId: label && `id of ${label}`,
    }))
  mediaDevices.getUserMedia = (wanted) => {
    if (typeof wanted?.audio === 'object') Object.assign(window, { asked: wanted.audio.deviceId })
    return take(wanted)
  }
}

test('microphone and camera are chosen and remembered, the level moves, and what is unplugged is replaced', async () => {
  const page = await plaza.guest()
  const address = await meetingOf(page)
  await page.addInitScript(nameDevices)
  await page.goto(address)
  const level = page.getByRole('meter', { name: 'Microphone level' })
  await expect.poll(() => level.evaluate((one: HTMLMeterElement) => one.value)).toBeGreaterThan(0.1)
  await page.getByRole('button', { name: 'Choose devices' }).click()
  const chooser = page.getByRole('dialog', { name: 'Choose devices' })
  const microphone = chooser.getByRole('combobox', { name: 'Microphone' })
  const chosen = () => microphone.evaluate((one: HTMLSelectElement) => one.selectedOptions[0]?.text)
  await microphone.selectOption({ label: 'Fake Audio Input 2' })
  expect(await axeFaults(page)).toEqual([])
  await page.reload()
  const asked = () => page.evaluate(() => (window as unknown as { asked?: unknown }).asked)
  await expect.poll(asked).toEqual({ ideal: 'id of Fake Audio Input 2' })
  await page.getByRole('button', { name: 'Choose devices' }).click()
  await expect.poll(chosen).toBe('Fake Audio Input 2')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Enter the meeting' }).click()
  await isSeen(page, 'You')
  await endTrack(page)
  await page.getByText(/^Your camera was unplugged\. .+ is in use now\.$/).waitFor()
  await isSeen(page, 'You')
  expect(await axeFaults(page)).toEqual([])

  // A speaker that is there no more.
  await page.getByRole('button', { name: 'Choose devices' }).click()
  const speaker = chooser.getByRole('combobox', { name: 'Speaker' })
  await speaker.selectOption({ index: 1 })
  await page.keyboard.press('Escape')
  await page.evaluate(() => {
    navigator.mediaDevices.enumerateDevices = async () => [
      { kind: 'audiooutput', deviceId: 'another', label: 'Another', groupId: '', toJSON: () => ({}) },
    ]
    navigator.mediaDevices.dispatchEvent(new Event('devicechange'))
  })
  await page.getByText('Your speaker was unplugged. The standard one is in use now.').waitFor()
  await plaza.settle()
})

test('a screen is shown large and whole until it is stopped, and a raised hand is seen until its owner leaves', async () => {
  const host = await plaza.guest()
  const address = await meetingOf(host)
  await withScreen(host)
  await enter(host, address)
  const guest = await plaza.visit(phone)
  await enter(guest, address, 'Cora')
  await isSeen(host, 'Cora')
  const shared = await guest.locator('figure:not(.mine)').first().getAttribute('aria-label')
  const theirs = pictureOf(guest, shared ?? '')
  const before = (await theirs.boundingBox())?.height ?? 0
  await host.getByRole('button', { name: 'Share the screen' }).click()
  await expect
    .poll(() => theirs.locator('video').evaluate((one: HTMLVideoElement) => one.videoWidth / one.videoHeight), {
      timeout: 60_000,
    })
    .toBeCloseTo(4, 0)
  await theirs.getByText('screen').waitFor()
  expect(await theirs.locator('video').evaluate((one) => getComputedStyle(one).objectFit)).toBe('contain')
  expect((await theirs.boundingBox())?.height ?? 0).toBeGreaterThan(before * 1.2)
  for (const page of [host, guest]) expect(await axeFaults(page)).toEqual([])
  await endTrack(host)
  await theirs.getByText('screen').waitFor({ state: 'detached' })
  await host.getByRole('button', { name: 'Share the screen' }).waitFor()

  await guest.getByRole('button', { name: 'Raise your hand' }).click()
  await pictureOf(host, 'Cora').getByText('Hand raised').waitFor()
  expect(await axeFaults(host)).toEqual([])
  await guest.getByRole('button', { name: 'Leave' }).click()
  await guest.getByRole('button', { name: 'Rejoin' }).click()
  await isSeen(host, 'Cora')
  await pictureOf(host, 'Cora').getByText('Hand raised').waitFor({ state: 'detached' })
  await guest.getByRole('button', { name: 'Raise your hand' }).waitFor()
  await plaza.settle()
})

test('a host mutes somebody, who may speak again; nobody else can', async () => {
  const host = await plaza.guest()
  const address = await meetingOf(host)
  await enter(host, address)
  const guest = await plaza.visit(desktop, async (page) => {
    await page.addInitScript(() => {
      const made = RTCPeerConnection.prototype.createDataChannel
      RTCPeerConnection.prototype.createDataChannel = function (...given) {
        const channel = made.apply(this, given)
        Object.assign(window, { channel })
        return channel
      }
    })
  })
  await enter(guest, address, 'Cora')
  await isSeen(host, 'Cora')
  // A page that asks the host for silence is not heard.
  await guest.evaluate(() => {
    const { channel } = window as unknown as { channel: RTCDataChannel }
    channel.send(JSON.stringify({ audio: true, video: true, hand: true, mute: true }))
  })
  await pictureOf(host, 'Cora').getByText('Hand raised').waitFor()
  const microphone = (page: Page) => page.getByRole('button', { name: 'Microphone', exact: true })
  expect(await microphone(host).getAttribute('aria-pressed')).toBe('true')
  expect(await guest.getByRole('button', { name: /^Mute / }).count()).toBe(0)

  await pictureOf(host, 'Cora').getByRole('button', { name: 'Mute Cora' }).click()
  await guest.getByText('The host has muted you.').waitFor()
  await pictureOf(host, 'Cora').getByText('Microphone off').waitFor()
  expect(await axeFaults(guest)).toEqual([])
  await microphone(guest).click()
  await pictureOf(host, 'Cora').getByText('Microphone off').waitFor({ state: 'detached' })

  await host.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await host.getByRole('button', { name: 'Copy the invite link' }).click()
  expect(await host.evaluate(() => navigator.clipboard.readText())).toBe(address)
  await host.getByRole('button', { name: 'Full screen' }).click()
  await host.getByRole('button', { name: 'Leave full screen' }).click()
  await host.getByRole('button', { name: 'Full screen' }).waitFor()
  await plaza.settle()
})

test('a voice call asks for no camera, who does not answer is told of, and who is in a call is not rung', async () => {
  const asked = (page: Page) =>
    page.addInitScript(() => {
      const { mediaDevices } = navigator
      const take = mediaDevices.getUserMedia.bind(mediaDevices)
      mediaDevices.getUserMedia = (wanted) => {
        const key = 'cameras asked for'
        if (wanted?.video) sessionStorage.setItem(key, 'some')
        return take(wanted)
      }
    })
  const [one, two] = [await plaza.guest(), await plaza.guest(phone)]
  for (const page of [one, two]) await asked(page)
  const [caller, callee] = [await accountOf(one), await accountOf(two)]
  await plaza.node.callAs(callee, accounts.updateProfile, { calls_from: 'everyone' })
  await plaza.node.callAs(caller, calls.start, { calleeAddress: callee, callType: 'audio', status: 'completed' })
  await one.clock.install()
  await go(one, '/calls')
  const ring = () =>
    one
      .getByRole('button', { name: /^Call (?!again)/ })
      .first()
      .click()
  await ring()
  await two.getByRole('alert').getByText('is calling, voice only').waitFor()
  expect(await axeFaults(two)).toEqual([])
  await one
    .getByText(/^Ringing .+…$/)
    .first()
    .waitFor()

  // Nobody answers.
  await Calls.updateMany(
    { caller_address: caller, status: 'ringing' },
    { $set: { started_at: new Date(Date.now() - (ringSeconds + 2) * 1_000).toISOString() } },
  )
  await one.clock.fastForward((ringSeconds + 2) * 1_000)
  await one
    .getByText(/did not answer\.$/)
    .first()
    .waitFor()
  expect(await axeFaults(one)).toEqual([])

  await two.reload()
  await isLive(two)
  await one.getByRole('button', { name: 'Call again' }).click()
  await two.getByRole('alert').getByRole('button', { name: 'Answer' }).click()
  for (const page of [one, two]) {
    await page.locator('figure:not(.mine)').first().waitFor()
    expect(await page.evaluate(() => sessionStorage.getItem('cameras asked for'))).toBe(null)
    expect(await page.getByRole('button', { name: 'Camera', exact: true }).getAttribute('aria-pressed')).toBe('false')
  }

  const third = await personAt(plaza.url, 'who calls too')
  const start = { calleeAddress: callee, callType: 'video', status: 'ringing' } as const
  expect((await third.does('rest', calls.start, start)).call.status).toBe('missed')
  const other = await plaza.guest()
  await plaza.node.callAs(await accountOf(other), calls.start, { ...start, status: 'completed' })
  await go(other, '/calls')
  await other
    .getByRole('button', { name: /^Call (?!again)/ })
    .first()
    .click()
  await other.getByText('is in another call, and sees that you called.').waitFor()
  expect(other.url()).toContain('/calls')
  await plaza.settle()
})
