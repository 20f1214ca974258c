import { textCatalog } from './catalog.ts'

export const bookingHourTexts = textCatalog('booking-hours', {
  hint: 'Agents of yours that offer your booking hours show the free ones, in the time zone of the guest. They never show what keeps you busy.',
  title: 'Weekly hours',
  empty: 'No weekly hours yet, so nobody can book you.',
  span: '{day}, {from} to {to}',
  remove: 'Remove',
  removeOf: 'Remove {span}',
  add: 'Add hours',
  day: 'Day',
  days: '{first} to {last}',
  from: 'From',
  to: 'To',
  zone: 'Time zone: {zone}.',
  submit: 'Add',
  endsTooEarly: 'The end must be after the start.',
  calls: 'Calls',
  save: 'Save',
  saved: 'Saved.',
  lengths: {
    scheduling_free_duration_minutes: 'Length of a call, in minutes',
    scheduling_buffer_minutes: 'Break between calls, in minutes',
    scheduling_advance_notice_hours: 'Minimum notice, in hours',
  },
  calendar: {
    title: 'Your calendar',
    hint: 'Times when your Google Calendar is busy are not offered, and calls are added to it. Plaza asks when you are busy, never with what.',
    expired: 'Your calendar has to be connected again. Until then, no times are offered.',
    unavailable:
      'Calendars are not available on this server anymore. Until you disconnect yours, no times are offered.',
    connected: 'Connected',
    connectedAs: 'Connected as {email}',
    connect: 'Connect Google Calendar',
    connectAgain: 'Connect again',
    disconnect: 'Disconnect',
    disconnected: 'Your calendar is disconnected.',
  },
  /** What became of a calendar when its provider led back to the page. */
  connection: {
    done: 'Your calendar is connected.',
    access_denied: 'You did not allow Google to show when you are busy, so no calendar is connected.',
    exchange_failed: 'Google did not grant every permission. Connect your calendar again.',
    provider_error: 'Google refused the connection. Connect your calendar again.',
    provider_away: 'Google did not respond. Try again later.',
    not_configured: 'Calendars are not available on this server.',
    expired: 'That took too long, or was started elsewhere. Connect your calendar again.',
  },
})
