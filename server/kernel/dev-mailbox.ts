import type { Response } from 'express'
import type { RawRoute } from './http/raw-route.ts'

interface CapturedMessage {
  id: string
  kind: 'mail' | 'sms'
  to: string
  subject: string | null
  text: string
  /** The calendar entry of an email. */
  calendar?: { text: string } | undefined
  at: string
}

const most = 200

/** Captured emails and texts of a server that sends none: the latest in memory, with a page that shows them. */
export interface DevMailbox {
  keep(one: Omit<CapturedMessage, 'at'>): void
  /** For other machines than this one, the page does not exist. */
  routes: readonly RawRoute[]
}

export function createDevMailbox(now: () => number): DevMailbox {
  const kept: CapturedMessage[] = []
  return {
    keep(one) {
      if (kept.some(({ id }) => id === one.id)) return
      kept.unshift({ ...one, at: new Date(now()).toISOString() })
      kept.length = Math.min(kept.length, most)
    },
    routes: [
      {
        path: '/dev/mail.json',
        answer: 'json',
        isLocal: true,
        give: (_request, response) => given(response, JSON.stringify({ letters: kept })),
      },
      { path: '/dev/mail', answer: 'html', isLocal: true, give: (_request, response) => given(response, page(kept)) },
    ],
  }
}

function given(response: Response, body: string): true {
  response.setHeader('Cache-Control', 'no-store')
  response.send(body)
  return true
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
const escaped = (text: string) => text.replace(/[&<>"']/g, (sign) => entities[sign] ?? '')
const linked = (text: string) => escaped(text).replace(/https?:\/\/[^\s<]+/g, (url) => `<a href="${url}">${url}</a>`)

const letter = ({ kind, to, subject, text, calendar, at }: CapturedMessage) => `
    <article>
      <h2>${escaped(subject ?? 'Text')}</h2>
      <p class="meta">${kind === 'mail' ? 'Letter' : 'Text'} to ${escaped(to)} · <time datetime="${at}">${at}</time></p>
      <pre>${linked(text)}</pre>${calendar ? `\n      <pre class="meta">${escaped(calendar.text)}</pre>` : ''}
    </article>`

const page = (kept: readonly CapturedMessage[]) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="robots" content="noindex">
    <link rel="icon" href="/plaza.svg" type="image/svg+xml">
    <title>Captured letters · Plaza</title>
    <style>
      :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
      body { max-width: 44rem; margin: 2rem auto; padding: 0 1rem; }
      article { border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: 8px; padding: 1rem; margin: 1rem 0; }
      h1 { font-size: 1.4rem; }
      h2 { font-size: 1.05rem; margin: 0; }
      .meta { margin: 0; opacity: 0.7; font-size: 0.875rem; }
      pre { font: inherit; white-space: pre-wrap; overflow-wrap: anywhere; margin: 0.75rem 0 0; }
    </style>
  </head>
  <body>
    <main>
      <h1>Captured letters</h1>
      <p>This server sends nothing: MAIL_URL or SMS_URL is <code>captured</code>. The last ${most} are kept in memory, newest first.</p>${kept.map(letter).join('') || '\n      <p>None yet.</p>'}
    </main>
  </body>
</html>
`
