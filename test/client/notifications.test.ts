import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'

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

const pushed = (text: string) => ({ data: { json: () => JSON.parse(text) as unknown } })
const clicked = (url: string) => ({ notification: { close: () => undefined, data: { url } } })

describe('the worker of the page', () => {
  test('shows what is pushed, under its tag', async () => {
    const notice = { title: 'Ann', body: 'New message', tag: 'dm:a~b', url: '/#/dm' }
    expect(await workerWith()('push', pushed(JSON.stringify(notice)))).toEqual([
      'show Ann {"body":"New message","tag":"dm:a~b","icon":"/plaza.svg","data":{"url":"/#/dm"}}',
    ])
  })

  test.each(['', '[', 'null'])('shows that there is something where %j is pushed', async (text) => {
    expect(await workerWith()('push', pushed(text))).toEqual([
      'show Plaza {"body":"There is something new for you.","icon":"/plaza.svg","data":{"url":"/"}}',
    ])
    expect(await workerWith()('push', { data: null })).toHaveLength(1)
  })

  test('opens the page where a click leads, and takes one that is open, but no meeting', async () => {
    expect(await workerWith()('notificationclick', clicked('/#/calls'))).toEqual([`open ${site}/#/calls`])
    expect(await workerWith(`${site}/room/ABC`)('notificationclick', clicked('/'))).toEqual([`open ${site}/`])
    expect(await workerWith(`${site}/room/ABC`, `${site}/#/alpha`)('notificationclick', clicked('/#/calls'))).toEqual([
      `focus ${site}/#/alpha`,
      `navigate ${site}/#/calls`,
    ])
    expect(await workerWith(`${site}/#/alpha`)('notificationclick', clicked('/'))).toEqual([`focus ${site}/#/alpha`])
  })

  test.each(['https://evil.test/', '//evil.test', '/\\evil.test', 'javascript:alert(1)'])(
    'T63: opens nothing at %s',
    async (url) => {
      expect(await workerWith()('notificationclick', clicked(url))).toEqual([])
    },
  )
})
