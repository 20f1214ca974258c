/** An appointment for calendars in an email (RFC 5545, RFC 5546). */
export interface Appointment {
  method: 'REQUEST' | 'CANCEL'
  /** The same in every email about it. */
  uid: string
  start: Date
  end: Date
  /** When this was written. */
  stamp: Date
  summary: string
  description: string
  url: string
  organizer: Person
  attendee: Person
}

interface Person {
  name: string
  address: string
}

const octetsOfLine = 75

/** The text of an appointment, with a reminder 15 minutes before. Given texts cannot leave their lines. */
export function appointmentText(given: Appointment): string {
  const { method, uid, start, end, stamp, summary, description, url, organizer, attendee } = given
  const isOn = method === 'REQUEST'
  const reminder = ['BEGIN:VALARM', 'ACTION:DISPLAY', `DESCRIPTION:${escaped(summary)}`, 'TRIGGER:-PT15M', 'END:VALARM']
  const lines = [
    ...['BEGIN:VCALENDAR', 'VERSION:2.0', 'PRODID:-//Plaza//Scheduling//EN', `METHOD:${method}`, 'BEGIN:VEVENT'],
    ...[`UID:${escaped(uid)}`, `DTSTAMP:${utc(stamp)}`, `DTSTART:${utc(start)}`, `DTEND:${utc(end)}`],
    ...[`SEQUENCE:${isOn ? 0 : 1}`, `STATUS:${isOn ? 'CONFIRMED' : 'CANCELLED'}`],
    ...[`SUMMARY:${escaped(summary)}`, `DESCRIPTION:${escaped(description)}`, `URL:${url}`],
    `ORGANIZER${named(organizer)}`,
    `ATTENDEE;ROLE=REQ-PARTICIPANT;PARTSTAT=ACCEPTED;RSVP=FALSE${named(attendee)}`,
    ...(isOn ? reminder : []),
    ...['END:VEVENT', 'END:VCALENDAR'],
  ]
  return lines.map((line) => `${folded(line)}\r\n`).join('')
}

/** `20261124T090000Z` */
const utc = (at: Date): string => at.toISOString().replace(/[-:]|\.\d+/g, '')

/** Escapes special characters, and drops other control characters. */
const escaped = (text: string): string =>
  text
    .replace(/[\\;,]/g, (character) => `\\${character}`)
    .replace(/\r\n|\r|\n/g, '\\n')
    .replace(/\p{Cc}/gu, '')

const named = ({ name, address }: Person): string =>
  `;CN="${name.replace(/["\p{Cc}]/gu, '')}":mailto:${encodeURI(address)}`

/** Folds a line at 75 octets between characters. */
function folded(line: string): string {
  const lines = ['']
  let octets = 0
  for (const character of line) {
    const size = Buffer.byteLength(character)
    if (octets + size > octetsOfLine) {
      lines.push(' ')
      octets = 1
    }
    lines[lines.length - 1] += character
    octets += size
  }
  return lines.join('\r\n')
}
