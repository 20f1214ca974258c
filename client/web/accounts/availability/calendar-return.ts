import { useEffect } from 'react'
import { useTell } from '../../kit/toasts.tsx'
import { bookingHourTexts as t } from '../../texts/booking-hours.ts'

/** The sentences for what went wrong with the one who was asked; for all else the attempt itself is to be made again. */
const { access_denied, exchange_failed, provider_error, provider_away, not_configured } = t.connection
const words: ReadonlyMap<string, string> = new Map(
  Object.entries({ access_denied, exchange_failed, provider_error, provider_away, not_configured }),
)

/** Says what became of a calendar when its provider has led back to the page, and takes that out of the address. */
export function useCalendarReturn(): void {
  const tell = useTell()
  useEffect(() => {
    const { searchParams: given, pathname, hash } = new URL(location.href)
    const error = given.get('calendar_error')
    if (error === null && !given.has('calendar_connected')) return
    history.replaceState(null, '', pathname + hash)
    tell(error === null ? t.connection.done : (words.get(error) ?? t.connection.expired))
  }, [tell])
}
