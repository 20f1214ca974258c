import type { bookingHourTexts as english } from '../booking-hours.ts'
import type { TextTranslation } from '../catalog.ts'

export const bookingHourTexts: TextTranslation<typeof english> = {
  hint: 'Deine Agenten, die deine Buchungszeiten anbieten, zeigen die freien davon in der Zeitzone des Gastes. Womit du beschäftigt bist, zeigen sie nie.',
  title: 'Wochenzeiten',
  empty: 'Noch keine Wochenzeiten. Deshalb kann dich niemand buchen.',
  span: '{day}, {from} bis {to}',
  remove: 'Entfernen',
  removeOf: '{span} entfernen',
  add: 'Zeiten hinzufügen',
  day: 'Tag',
  days: '{first} bis {last}',
  from: 'Von',
  to: 'Bis',
  zone: 'Zeitzone: {zone}.',
  submit: 'Hinzufügen',
  endsTooEarly: 'Das Ende muss nach dem Beginn liegen.',
  calls: 'Anrufe',
  save: 'Speichern',
  saved: 'Gespeichert.',
  lengths: {
    scheduling_free_duration_minutes: 'Dauer eines Anrufs, in Minuten',
    scheduling_buffer_minutes: 'Pause zwischen Anrufen, in Minuten',
    scheduling_advance_notice_hours: 'Mindestvorlauf, in Stunden',
  },
  calendar: {
    title: 'Dein Kalender',
    hint: 'Zeiten, zu denen dein Google-Kalender belegt ist, werden nicht angeboten, und Anrufe werden darin eingetragen. Plaza fragt, wann du beschäftigt bist, nie womit.',
    expired: 'Dein Kalender muss neu verbunden werden. Bis dahin werden keine Zeiten angeboten.',
    unavailable:
      'Kalender sind auf diesem Server nicht mehr verfügbar. Solange deiner verbunden ist, werden keine Zeiten angeboten.',
    connected: 'Verbunden',
    connectedAs: 'Verbunden als {email}',
    connect: 'Google-Kalender verbinden',
    connectAgain: 'Neu verbinden',
    disconnect: 'Trennen',
    disconnected: 'Dein Kalender ist getrennt.',
  },
  connection: {
    done: 'Dein Kalender ist verbunden.',
    access_denied:
      'Du hast Google nicht erlaubt zu zeigen, wann du beschäftigt bist. Deshalb ist kein Kalender verbunden.',
    exchange_failed: 'Google hat nicht alle Berechtigungen erteilt. Verbinde deinen Kalender noch einmal.',
    provider_error: 'Google hat die Verbindung abgelehnt. Verbinde deinen Kalender noch einmal.',
    provider_away: 'Google hat nicht geantwortet. Versuche es später noch einmal.',
    not_configured: 'Kalender sind auf diesem Server nicht verfügbar.',
    expired: 'Das hat zu lange gedauert oder wurde woanders begonnen. Verbinde deinen Kalender noch einmal.',
  },
}
