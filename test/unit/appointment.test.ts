import { expect, test } from 'vitest'
import { type Appointment, appointmentText } from '#server/domains/meetings/booking/emails'

const given: Appointment = {
  method: 'REQUEST',
  uid: 'one@plaza.example',
  start: new Date('2026-11-24T09:00:00Z'),
  end: new Date('2026-11-24T09:15:00Z'),
  stamp: new Date('2026-11-23T10:11:12.345Z'),
  summary: 'Tea',
  description: 'https://plaza.example/join/1',
  url: 'https://plaza.example/join/1',
  organizer: { name: 'Ann', address: 'no-reply@plaza.example' },
  attendee: { name: 'Bob', address: 'bob@example.test' },
}
const linesOf = (text: string) => text.replace(/\r\n /g, '').split('\r\n')

test('an appointment says when it is, in UTC, and reminds a quarter of an hour before', () => {
  expect(linesOf(appointmentText(given))).toEqual([
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Plaza//Scheduling//EN', 'METHOD:REQUEST', 'BEGIN:VEVENT'],
    ...['UID:one@plaza.example', 'DTSTAMP:20261123T101112Z', 'DTSTART:20261124T090000Z', 'DTEND:20261124T091500Z'],
    ...['SEQUENCE:0', 'STATUS:CONFIRMED', 'SUMMARY:Tea', 'DESCRIPTION:https://plaza.example/join/1'],
    ...['URL:https://plaza.example/join/1', 'ORGANIZER;CN="Ann":mailto:no-reply@plaza.example'],
    'ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE;CN="Bob":mailto:bob@example.test',
    ...['BEGIN:VALARM', 'ACTION:DISPLAY', 'DESCRIPTION:Tea', 'TRIGGER:-PT15M', 'END:VALARM', 'END:VEVENT'],
    ...['END:VCALENDAR', ''],
  ])
  const cancelled = linesOf(appointmentText({ ...given, method: 'CANCEL' }))
  expect(cancelled).toContain('STATUS:CANCELLED')
  expect(cancelled).not.toContain('BEGIN:VALARM')
})

test('T20: nothing that is said in it begins another line or another field', () => {
  const evil = 'Tea\r\nATTENDEE:mailto:all@example.test\n\u2028;X=1,2\\";CN=x:\u0000'
  const text = appointmentText({ ...given, summary: evil, attendee: { name: evil, address: 'bob@example.test' } })
  const lines = linesOf(text)
  expect(lines.filter((line) => line.startsWith('ATTENDEE'))).toHaveLength(1)
  expect(lines.map((line) => line.replace(/[:;].*/s, ''))).toEqual(
    linesOf(appointmentText(given)).map((line) => line.replace(/[:;].*/s, '')),
  )
  expect(lines.find((line) => line.startsWith('SUMMARY'))).toBe(
    'SUMMARY:Tea\\nATTENDEE:mailto:all@example.test\\n\u2028\\;X=1\\,2\\\\"\\;CN=x:',
  )
  expect(lines.find((line) => line.startsWith('ATTENDEE'))?.match(/"/g)).toHaveLength(2)
})

test('no line is longer than 75 octets, and no character is torn', () => {
  const text = appointmentText({ ...given, summary: '🎉ж'.repeat(60) })
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75)
  expect(linesOf(text)).toContain(`SUMMARY:${'🎉ж'.repeat(60)}`)
})
