import { fetchText } from '#server/kernel/fetch'
import type { Sms } from './port.ts'

const bounds = { timeoutMilliseconds: 10_000, maxBytes: 64 * 1024 }

/** Posts text messages as a form with `To`, `From` and `Body`. The URL's account and token go into the header. */
export function httpSms(url: string, from: string): Sms {
  const target = new URL(url)
  const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
  target.username = ''
  target.password = ''
  return {
    async send({ id, to, text }) {
      const headers = {
        'idempotency-key': id,
        ...(credentials === ':' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
      }
      const body = new URLSearchParams({ To: to, From: from, Body: text })
      const { status } = await fetchText(target.href, { method: 'POST', headers, body }, bounds)
      if (status < 200 || status >= 300) throw new Error(`The text service answered ${status}`)
    },
    async close() {},
  }
}
