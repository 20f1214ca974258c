import { decodeJwt } from 'jose'
import { z } from 'zod'
import { fetchText } from '#server/kernel/fetch'
import { AppError } from '#shared/errors'
import { type Access, type Calendars, NoAccess, type OpenedCalendar } from './port.ts'

/** Below the 5 s of free times. */
const bounds = { timeoutMilliseconds: 4_500, maxBytes: 1024 * 1024 }

/** https://developers.google.com/workspace/calendar/api/auth */
const wanted = ['calendar.freebusy', 'calendar.events.owned'].map((name) => `https://www.googleapis.com/auth/${name}`)

/** The URLs of Google: for people the first, for this server the others. */
const google = {
  askUrl: 'https://accounts.google.com/o/oauth2/v2/auth',
  tokenUrl: 'https://oauth2.googleapis.com/token',
  revokeUrl: 'https://oauth2.googleapis.com/revoke',
  apiUrl: 'https://www.googleapis.com/calendar/v3',
}

interface Client {
  id: string
  secret: string
}

const token = z.string().min(1).max(4096)
const Refreshed = z.object({ access_token: token, expires_in: z.number().int().min(1).max(86_400) })
const Granted = Refreshed.extend({
  refresh_token: token,
  scope: z.string().max(4096),
  id_token: z.string().max(16_384).optional(),
})
const Refused = z.object({ error: z.string() })

const Instant = z.iso.datetime({ offset: true }).transform((at) => Date.parse(at))
const FreeBusy = z.object({
  calendars: z.record(
    z.string(),
    z.object({
      busy: z
        .array(z.object({ start: Instant, end: Instant }))
        .max(20_000)
        .default([]),
      errors: z.array(z.unknown()).optional(),
    }),
  ),
})

/** Errors name a status alone, as answers may hold secrets. */
const failed = (status: number, cause?: unknown) =>
  new AppError('UPSTREAM_ERROR', { message: `The calendar provider answered ${status}`, cause })

/** The primary calendars of people at Google. */
export function googleCalendars({ id, secret }: Client, { askUrl, tokenUrl, revokeUrl, apiUrl } = google): Calendars {
  const post = (url: string, form: Record<string, string>) =>
    fetchText(
      url,
      {
        method: 'POST',
        headers: { accept: 'application/json', 'user-agent': 'plaza' },
        body: new URLSearchParams(form),
      },
      bounds,
    )

  /** The client's token request. Throws NoAccess for a rejected code or token. */
  async function tokensBy(form: Record<string, string>): Promise<unknown> {
    const { status, text } = await post(tokenUrl, { client_id: id, client_secret: secret, ...form })
    const answer = readJson(text)
    if (status === 200) return answer
    if (Refused.safeParse(answer).data?.error === 'invalid_grant') throw new NoAccess('The provider gives no access')
    throw failed(status)
  }

  async function ask(
    method: string,
    path: string,
    { accessToken }: OpenedCalendar,
    body?: object,
    signal?: AbortSignal,
  ) {
    const headers = {
      authorization: `Bearer ${accessToken}`,
      accept: 'application/json',
      'user-agent': 'plaza',
      ...(body && { 'content-type': 'application/json' }),
    }
    const request = { method, headers, ...(body && { body: JSON.stringify(body) }), ...(signal && { signal }) }
    const answer = await fetchText(`${apiUrl}${path}`, request, bounds)
    if (answer.status === 401) throw new NoAccess('The provider does not take this access any more')
    return answer
  }

  return {
    provider: 'google',

    askAt({ state, challenge, redirectUri }) {
      const url = new URL(askUrl)
      const query = {
        client_id: id,
        redirect_uri: redirectUri,
        response_type: 'code',
        scope: ['openid', 'email', ...wanted].join(' '),
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        // Requests a refresh token, also after an earlier grant.
        access_type: 'offline',
        prompt: 'consent',
      }
      for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value)
      return url.href
    },

    async exchange(code, verifier, redirectUri) {
      const form = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri }
      const granted = readAs(Granted, await tokensBy(form))
      const allowed = granted.scope.split(' ')
      if (!wanted.every((scope) => allowed.includes(scope))) throw new NoAccess('Not all that is needed was allowed')
      return {
        ...accessOf(granted),
        refreshToken: granted.refresh_token,
        calendarId: 'primary',
        email: emailIn(granted.id_token),
      }
    },

    async refresh(refreshToken) {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken }
      return accessOf(readAs(Refreshed, await tokensBy(form)))
    },

    async revoke(refreshToken) {
      const { status } = await post(revokeUrl, { token: refreshToken })
      // 400: it is good for nothing already.
      if (status !== 200 && status !== 400) throw failed(status)
    },

    async busy(calendar, { start, end }, signal) {
      const body = {
        timeMin: new Date(start).toISOString(),
        timeMax: new Date(end).toISOString(),
        items: [{ id: calendar.calendarId }],
      }
      const { status, text } = await ask('POST', '/freeBusy', calendar, body, signal)
      if (status !== 200) throw failed(status)
      const [told] = Object.values(readAs(FreeBusy, readJson(text)).calendars)
      if (!told || (told.errors?.length ?? 0) > 0) throw failed(status)
      return told.busy
    },

    async insert(calendar, { id: eventId, title, description, start, end }) {
      const body = {
        id: eventId,
        summary: title,
        description,
        start: { dateTime: new Date(start).toISOString() },
        end: { dateTime: new Date(end).toISOString() },
      }
      const { status } = await ask('POST', `${pathOf(calendar)}?sendUpdates=none`, calendar, body)
      // 409: it is there.
      if (status !== 200 && status !== 409) throw failed(status)
    },

    async remove(calendar, eventId) {
      const path = `${pathOf(calendar)}/${encodeURIComponent(eventId)}?sendUpdates=none`
      const { status } = await ask('DELETE', path, calendar)
      if (![200, 204, 404, 410].includes(status)) throw failed(status)
    },
  }
}

const pathOf = ({ calendarId }: OpenedCalendar) => `/calendars/${encodeURIComponent(calendarId)}/events`

const accessOf = ({ access_token, expires_in }: z.output<typeof Refreshed>): Access => ({
  accessToken: access_token,
  seconds: expires_in,
})

/** Google itself sent the token, so its signature is not checked (OpenID Connect Core, 3.1.3.7). */
function emailIn(idToken: string | undefined): string | null {
  try {
    return z
      .email()
      .max(320)
      .parse(decodeJwt(idToken ?? '').email)
  } catch {
    return null
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function readAs<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.output<Schema> {
  const read = schema.safeParse(answer)
  if (!read.success) throw failed(200)
  return read.data
}
