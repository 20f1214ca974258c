import { createTransport } from 'nodemailer'
import { type Mail, Undeliverable } from './port.ts'

const timeoutMilliseconds = 10_000
const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/

/** Sends by SMTP, encrypted if the server can. Remote certificates are checked, and passwords never travel in clear. */
export function smtpMail(url: string, from: string): Mail {
  const { hostname, password, protocol } = new URL(url)
  const isHere = loopback.test(hostname)
  const transport = createTransport({
    url,
    pool: true,
    connectionTimeout: timeoutMilliseconds,
    greetingTimeout: timeoutMilliseconds,
    socketTimeout: timeoutMilliseconds,
    disableFileAccess: true,
    disableUrlAccess: true,
    requireTLS: protocol === 'smtp:' && password !== '' && !isHere,
    tls: { rejectUnauthorized: !isHere },
  })
  return {
    async send({ id, to, subject, text, calendar }) {
      const messageId = `<${id.replace(/[^\w.-]/g, '-')}@${domainOf(from)}>`
      const icalEvent = calendar && { method: calendar.method, filename: 'call.ics', content: calendar.text }
      await transport
        .sendMail({
          ...{ from, to: { name: '', address: to }, subject, text, messageId, ...(icalEvent && { icalEvent }) },
          // RFC 3834: nobody's out-of-office answers.
          headers: { 'Auto-Submitted': 'auto-generated' },
        })
        .catch((error: { code?: string; responseCode?: number }) => {
          const isOfEmail = error.code === 'EENVELOPE' || error.code === 'EMESSAGE'
          const isForGood = isOfEmail && (error.responseCode ?? 0) >= 500
          throw isForGood ? new Undeliverable('The mail server refused the letter for good', { cause: error }) : error
        })
    },
    async close() {
      transport.close()
    },
  }
}

const domainOf = (from: string): string => /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost'
