import { calendar, calendarCallback } from '#shared/api/meetings/calendar'
import type { Person } from './people.ts'

/** Where the page of the servers of tests is. */
const page = 'http://localhost:3000/'

/** Opens the callback as a browser after the provider's redirect; returns the result in the page's address. */
export async function comeBack(url: string, query: Record<string, string>, cookie?: string): Promise<string> {
  const answer = await fetch(`${url}${calendarCallback}?${new URLSearchParams(query)}`, {
    redirect: 'manual',
    headers: cookie === undefined ? {} : { cookie },
  })
  await answer.body?.cancel()
  const location = answer.headers.get('location') ?? ''
  if (answer.status !== 302 || !location.startsWith(`${page}?`)) throw new Error(`${answer.status} ${location}`)
  return location.slice(page.length + 1)
}

/** Begins to connect a calendar: returns the provider's address, its parameters, and the browser's cookie. */
export async function beginConnecting(who: Person) {
  const { body, headers } = await who.rest('GET /api/calendar/connect')
  const { authUrl } = calendar.connect.output.parse(body)
  const given = headers.getSetCookie().find((one) => one.startsWith('app_return=')) ?? ''
  const asked = new URL(authUrl).searchParams
  return { authUrl, asked, state: asked.get('state') ?? '', given, cookie: given.split(';')[0] ?? '' }
}

/** Connects the calendar that a code opens: that of the account, where no other is named. */
export async function connectCalendar(who: Person, code = who.account): Promise<void> {
  const { state, cookie } = await beginConnecting(who)
  const told = await comeBack(who.url, { code, state }, cookie)
  if (told !== 'calendar_connected=true') throw new Error(told)
}
