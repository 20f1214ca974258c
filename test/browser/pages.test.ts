import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { linkTo, type PageName, pageAt, pagePaths } from '#shared/kit/pages'
import { field, openPlaza } from './plaza.ts'

let plaza: Awaited<ReturnType<typeof openPlaza>>
beforeAll(async () => {
  plaza = await openPlaza({ isSeeded: true })
})
afterAll(() => plaza.close())
afterEach(() => plaza.settle())

const nobody = `0x${'0'.repeat(40)}`
const params = {
  room: 'alpha',
  panel: 'members',
  stream: 'none',
  address: nobody,
  agent: 'none',
  token: 'none',
  code: 'ABCDEF',
  slug: 'none',
}
const paths = (Object.keys(pagePaths) as PageName[]).map((name) => [name, linkTo(name, params as never)] as const)

const main = (page: Page) => page.locator('main').first()
const nowhere = (page: Page) => page.getByRole('heading', { name: 'Page not found' })

test('each page has a path of its own, at which the server answers with it', async () => {
  for (const [name, path] of paths) {
    expect(pageAt(path)?.name).toBe(name)
    const answer = await fetch(plaza.url + path)
    expect([answer.status, answer.headers.get('content-type')], path).toEqual([200, 'text/html; charset=utf-8'])
    expect(answer.headers.get('cache-control')).toBe('no-cache')
    expect(answer.headers.get('content-security-policy')).toContain("script-src 'self'")
  }
})

test('each page opens at its path on a fresh visit, and again by back and forward', async () => {
  const page = await plaza.guest()
  for (const [name, path] of paths) {
    await page.goto(plaza.url + path)
    await main(page).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await nowhere(page).count(), name).toBe(0)
  }
  await page.goto(`${plaza.url}/friends`)
  await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
  await page.getByRole('link', { name: 'Calls' }).click()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
  await page.goBack()
  await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
  await page.goForward()
  await page.getByRole('heading', { name: 'Calls', level: 1 }).waitFor()
})

test('a path that is none says so with a way on, by 404', async () => {
  const page = await plaza.guest()
  for (const path of ['/nowhere', '/rooms/alpha/nothing', '/friends/of/mine']) {
    const answer = await page.goto(plaza.url + path)
    expect(answer?.status()).toBe(404)
    await nowhere(page).waitFor()
  }
  await page.getByRole('link', { name: 'Go to Plaza' }).click()
  await field(page).waitFor()
  const data = await fetch(`${plaza.url}/nowhere`, { headers: { accept: 'application/json' } })
  expect([data.status, data.headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8'])
  expect((await fetch(`${plaza.url}/api/nowhere`, { headers: { accept: 'text/html' } })).status).toBe(404)
})

test.each([
  ['#/', '/rooms/alpha'],
  ['#/alpha', '/rooms/alpha'],
  ['#/alpha/members', '/rooms/alpha/members'],
  ['#/alpha/nothing', '/rooms/alpha'],
  ['#/channel%3Anone', '/rooms/channel:none'],
  ['#/live', '/live'],
  ['#/live/none', '/live/none'],
  ['#/stream%3Anone/members', '/live/none/members'],
  ['#/go-live', '/live/new'],
  ['#/calls', '/calls'],
  ['#/friends', '/friends'],
  ['#/starred', '/starred'],
  ['#/profile', '/profile'],
  [`#/profile/${nobody}`, `/profile/${nobody}`],
  ['#/agents', '/agents'],
  ['#/agents/new', '/agents/new'],
  ['#/agents/none', '/agents/none/chat'],
  ['#/agents/none/edit', '/agents/none/edit'],
])('an address of earlier versions, %s, leads on to %s', async (hash, path) => {
  const page = await plaza.guest()
  await page.evaluate((to) => {
    location.hash = to
  }, hash)
  await expect.poll(() => page.url()).toBe(plaza.url + path)
  await page.goto('about:blank')
  await page.goto(`${plaza.url}/${hash}`)
  await expect.poll(() => page.url()).toBe(plaza.url + path)
  await main(page).waitFor()
})

test('who signs in comes to the page that was asked for', async () => {
  for (const path of ['/friends', '/#/friends']) {
    const page = await plaza.visit()
    await page.goto(plaza.url + path)
    await page.getByRole('button', { name: 'Enter as guest' }).click()
    await page.getByRole('heading', { name: 'Friends', level: 1 }).waitFor()
    expect(page.url()).toBe(`${plaza.url}/friends`)
  }
})
