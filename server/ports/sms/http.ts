import type { Sms } from './port.ts'

const timeoutMilliseconds = 10_000

/** Posts texts as a form with `To`, `From` and `Body`; the account and the token of the URL go into the header. */
export function httpSms(url: string, from: string): Sms {
  const target = new URL(url)
  const credentials = `${decodeURIComponent(target.username)}:${decodeURIComponent(target.password)}`
  target.username = ''
  target.password = ''
  return {
    async send({ id, to, text }) {
      const answer = await fetch(target, {
        method: 'POST',
        headers: {
          'idempotency-key': id,
          ...(credentials === ':' ? {} : { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
        },
        body: new URLSearchParams({ To: to, From: from, Body: text }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMilliseconds),
      })
      await answer.body?.cancel()
      if (!answer.ok) throw new Error(`The text service answered ${answer.status}`)
    },
    async close() {},
  }
}
