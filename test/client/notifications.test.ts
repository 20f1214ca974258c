import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { closeRead } from '#client/web/accounts/notifications/push-kept'

const code = readFileSync(new URL('../../client/web/public/sw.js', import.meta.url), 'utf8')
const site = 'https://plaza.test'

/** The worker of the page in a browser with these pages open, and what it did. */
function workerWith(...urls: string[]) {
  const listeners = new Map<string, (event: object) => void>()
  const done: string[] = []
  const pages = urls.map((url) => ({
    url,
    focus: async () => void done.push(`focus ${url}`),
    navigate: async (to: string) => void done.push(`navigate ${to}`),
  }))
  const scope = {
    addEventListener: (name: string, listener: (event: object) => void) => listeners.set(name, listener),
    skipWaiting: () => undefined,
    location: new URL(site),
    registration: {
      showNotification: async (title: string, options: object) =>
        void done.push(`show ${title} ${JSON.stringify(options)}`),
      getNotifications: async ({ tag }: { tag: string }) => [{ close: () => void done.push(`close ${tag}`) }],
      pushManager: {
        subscribe: async ({ applicationServerKey }: { applicationServerKey: string }) => {
          done.push(`subscribe by ${applicationServerKey}`)
          return subscription('new')
        },
      },
    },
    fetch: async (path: string, { method = 'GET', body = '' } = {}) => {
      done.push(`${method} ${path} ${body}`.trim())
      return { json: async () => ({ publicKey: 'the key' }) }
    },
    clients: {
      claim: async () => undefined,
      matchAll: async () => pages,
      openWindow: async (url: string) => void done.push(`open ${url}`),
    },
  }
  new Function(...Object.keys(scope), code)(...Object.values(scope))
  return async (name: string, event: object): Promise<string[]> => {
    let work: Promise<unknown> = Promise.resolve()
    listeners.get(name)?.({
      ...event,
      waitUntil(until: Promise<unknown>) {
        work = until
      },
    })
    await work
    return done
  }
}

const subscription = (name: string) => ({
  toJSON: () => ({ endpoint: `https://push.test/${name}`, expirationTime: null, keys: { p256dh: 'p', auth: 'a' } }),
})
const pushed = (text: string) => ({ data: { json: () => JSON.parse(text) as unknown } })
const clicked = (url: string) => ({ notification: { close: () => undefined, data: { url } } })

describe('the worker of the page', () => {
  test('shows what is pushed, under its tag', async () => {
    const notice = { title: 'Ann', body: 'New message', tag: 'dm:a~b', url: '/rooms/dm:a~b' }
    expect(await workerWith()('push', pushed(JSON.stringify(notice)))).toEqual([
      'show Ann {"body":"New message","tag":"dm:a~b","icon":"/plaza.svg","data":{"url":"/rooms/dm:a~b"}}',
    ])
  })

  test.each(['', '[', 'null'])('shows that there is something where %j is pushed', async (text) => {
    expect(await workerWith()('push', pushed(text))).toEqual([
      'show Plaza {"body":"There is something new for you.","icon":"/plaza.svg","data":{"url":"/"}}',
    ])
    expect(await workerWith()('push', { data: null })).toHaveLength(1)
  })

  test('O29: takes away what was told under a tag, after something was shown, and makes no sound for what replaces it', async () => {
    const gone = { title: 'Plaza', body: 'Gone', tag: 'dm:a~b', url: '/', silent: true, closed: true }
    expect(await workerWith()('push', pushed(JSON.stringify(gone)))).toEqual([
      'show Plaza {"body":"Gone","tag":"dm:a~b","silent":true,"icon":"/plaza.svg","data":{"url":"/"}}',
      'close dm:a~b',
    ])
    const { closed: _, ...edited } = gone
    expect(await workerWith()('push', pushed(JSON.stringify(edited)))).toHaveLength(1)
  })

  test('O31: subscribes again when the browser has ended its subscription', async () => {
    const told = 'POST /api/push/subscribe'
    const body = (name: string) =>
      JSON.stringify({ subscription: { endpoint: `https://push.test/${name}`, keys: { p256dh: 'p', auth: 'a' } } })
    expect(await workerWith()('pushsubscriptionchange', { newSubscription: null })).toEqual([
      'GET /api/push/public-key',
      'subscribe by the key',
      `${told} ${body('new')}`,
    ])
    expect(await workerWith()('pushsubscriptionchange', { newSubscription: subscription('given') })).toEqual([
      'GET /api/push/public-key',
      `${told} ${body('given')}`,
    ])
  })

  test('opens the page where a click leads, and takes one that is open, but no meeting', async () => {
    expect(await workerWith()('notificationclick', clicked('/calls'))).toEqual([`open ${site}/calls`])
    expect(await workerWith(`${site}/room/ABC`)('notificationclick', clicked('/'))).toEqual([`open ${site}/`])
    expect(await workerWith(`${site}/room/ABC`, `${site}/rooms/alpha`)('notificationclick', clicked('/calls'))).toEqual(
      [`focus ${site}/rooms/alpha`, `navigate ${site}/calls`],
    )
    expect(await workerWith(`${site}/rooms/alpha`)('notificationclick', clicked('/'))).toEqual([
      `focus ${site}/rooms/alpha`,
    ])
  })

  test.each(['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:alert(1)'])(
    'T63: opens nothing at %s',
    async (url) => {
      expect(await workerWith()('notificationclick', clicked(url))).toEqual([])
    },
  )
})

describe('O29: the page', () => {
  afterEach(() => vi.unstubAllGlobals())

  test.each([
    ['closes what it was told of rooms that are read', '0xaa', ['dm:a~b']],
    ['asks for nothing where this browser is told of nobody', null, []],
  ])('%s', async (_what, account, closed) => {
    const done: string[] = []
    const shown = ['dm:a~b', 'group:1', 'call:2'].map((tag) => ({ tag, close: () => void done.push(tag) }))
    const worker = { getRegistration: async () => ({ getNotifications: async () => shown }) }
    vi.stubGlobal('localStorage', { getItem: () => account })
    vi.stubGlobal('navigator', { serviceWorker: worker })
    const unread = new Map([
      ['dm:a~b', 0],
      ['group:1', 3],
    ])
    await closeRead((tag) => unread.get(tag) === 0)
    expect(done).toEqual(closed)
  })
})
