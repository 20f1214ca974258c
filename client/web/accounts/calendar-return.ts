import { useEffect } from 'react'
import { useTell } from '../kit/toasts.tsx'

/** The sentences for what went wrong with the one who was asked; for all else the attempt itself is to be made again. */
const words: ReadonlyMap<string, string> = new Map([
  ['access_denied', 'Google was not allowed to show when you are busy, so no calendar is connected.'],
  ['exchange_failed', 'Google has not allowed all that is needed. Connect your calendar again.'],
  ['provider_error', 'Google has refused. Connect your calendar again.'],
  ['provider_away', 'Google does not answer. Connect your calendar again later.'],
  ['not_configured', 'No calendars can be connected here.'],
])
const again = 'That took too long, or was begun elsewhere. Connect your calendar again.'

/** Says what became of a calendar when its provider has led back to the page, and takes that out of the address. */
export function useCalendarReturn(): void {
  const tell = useTell()
  useEffect(() => {
    const { searchParams: given, pathname, hash } = new URL(location.href)
    const error = given.get('calendar_error')
    if (error === null && !given.has('calendar_connected')) return
    history.replaceState(null, '', pathname + hash)
    tell(error === null ? 'Your calendar is connected.' : (words.get(error) ?? again))
  }, [tell])
}
