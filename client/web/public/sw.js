// Shows what the server pushes while the page is closed, and opens the page where it leads.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))

addEventListener('push', (event) => event.waitUntil(tell(noticeIn(event.data))))

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(event.notification.data.url))
})

addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscribeAgain(event)))

/** Meetings and other pages for everyone stay open. A law compares this with the rows of `pages.tsx`. */
const leftAlone = /^\/(room|join|schedule|docs|dev)\/|^\/agents\/(?!new$)[^/]+$/

const unknown = { title: 'Plaza', body: 'There is something new for you.', url: '/' }

function noticeIn(data) {
  try {
    return { ...unknown, ...data.json() }
  } catch {
    return unknown
  }
}

/** What is no longer so is shown without a sound, too, before it is closed: browsers end a subscription that shows nothing. */
async function tell({ title, body, tag, url, silent, closed }) {
  await registration.showNotification(title, { body, tag, silent, icon: '/plaza.svg', data: { url } })
  if (closed) for (const notice of await registration.getNotifications({ tag })) notice.close()
}

/** The browser has ended its subscription: the next one is for whoever is signed in here. Where nobody is, the page subscribes at its next start. */
async function subscribeAgain({ newSubscription }) {
  const { publicKey: applicationServerKey } = await (await fetch('/api/push/public-key')).json()
  const subscription =
    newSubscription ?? (await registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey }))
  const { endpoint, keys } = subscription.toJSON()
  const headers = { 'content-type': 'application/json' }
  await fetch('/api/push/subscribe', {
    method: 'POST',
    headers,
    body: JSON.stringify({ subscription: { endpoint, keys } }),
  })
}

/** Nothing that is pushed leads to another site. */
async function show(path) {
  const { origin, href } = new URL(path, location.origin)
  if (origin !== location.origin) return
  const pages = await clients.matchAll({ type: 'window' })
  const page = pages.find(({ url }) => !leftAlone.test(new URL(url).pathname))
  if (!page) return void (await clients.openWindow(href))
  await page.focus()
  // What leads nowhere in particular leaves the page as it is.
  if (href !== `${origin}/`) await page.navigate(href)
}
