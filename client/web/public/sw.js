// Shows what the server pushes while the page is closed, and opens the page where it leads.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (event) => event.waitUntil(clients.claim()))

addEventListener('push', (event) => {
  const { title, body, tag, url } = noticeIn(event.data)
  event.waitUntil(registration.showNotification(title, { body, tag, icon: '/plaza.svg', data: { url } }))
})

addEventListener('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(show(event.notification.data.url))
})

const unknown = { title: 'Plaza', body: 'There is something new for you.', url: '/' }

function noticeIn(data) {
  try {
    return { ...unknown, ...data.json() }
  } catch {
    return unknown
  }
}

/** Nothing that is pushed leads to another site. */
async function show(path) {
  const { origin, href } = new URL(path, location.origin)
  if (origin !== location.origin) return
  const pages = await clients.matchAll({ type: 'window' })
  // A meeting, or what else has an address of its own, is left alone.
  const page = pages.find(({ url }) => new URL(url).pathname === '/')
  if (!page) return void (await clients.openWindow(href))
  await page.focus()
  // What leads nowhere in particular leaves the page as it is.
  if (href !== `${origin}/`) await page.navigate(href)
}
