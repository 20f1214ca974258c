import { useClient } from '../connection/client.ts'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { bookingTexts as t } from '../texts/booked-calls.ts'
import { CallCard } from './call-card.tsx'
import { BookingFrame } from './frame.tsx'

const words: ProblemWords = { CALL_NOT_FOUND: t.card.notFound, VALIDATION_ERROR: t.card.notFound }

/** What the link of a call shows: `/join/:token`. */
export function JoinPage({ token }: { token: string }) {
  const client = useClient()
  const { value, error, isLoading, reload } = useLoaded(token, () => client.booking.invited({ token }))
  return (
    <BookingFrame title={value?.title ?? t.card.title}>
      {value ? (
        <CallCard call={value} token={token} />
      ) : error && !isLoading ? (
        <Blank icon="warn" title={t.card.notShown}>
          <LoadProblem error={error} words={words} />
          <button type="button" className="button small" onClick={reload}>
            {t.retry}
          </button>
        </Blank>
      ) : (
        <Skeleton rows={3} label={t.card.loading} />
      )}
    </BookingFrame>
  )
}
