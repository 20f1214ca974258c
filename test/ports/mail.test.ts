import { expect, test } from 'vitest'
import { smtpMail } from '#server/ports/mail/smtp'
import { smtpSink } from '#test/support/smtp'

test('an appointment comes with its letter as calendars take it, and a letter without one is text alone', async () => {
  const smtp = await smtpSink()
  const mail = smtpMail(smtp.url, 'Plaza <door@plaza.test>')
  const letter = { id: 'one', to: 'ann@people.test', subject: 'A call is booked', text: 'Come' }
  const text = 'BEGIN:VCALENDAR\r\nMETHOD:REQUEST\r\nEND:VCALENDAR\r\n'
  await mail.send({ ...letter, calendar: { method: 'REQUEST', text } })
  await mail.send(letter)
  const [first, second] = smtp.letters
  expect(first?.headers['content-type']).toMatch(/^multipart\//)
  const [, encoded = ''] =
    /Content-Type: text\/calendar; charset=utf-8;\s+method=REQUEST\r\nContent-Transfer-Encoding: base64\r\n\r\n([\w+/=\r\n]+)/i.exec(
      first?.text ?? '',
    ) ?? []
  expect(`${first?.text.slice(0, 2_000)}${Buffer.from(encoded, 'base64')}`).toContain(text)
  expect(second?.headers['content-type']).toMatch(/^text\/plain/)
  await mail.close()
  await smtp.close()
})
