import { useClient } from '../connection/client.ts'
import { Blank, LoadProblem, Skeleton } from '../kit/notice.tsx'
import type { ProblemWords } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { CallCard } from './call-card.tsx'
import { BookingFrame } from './frame.tsx'

const lost = 'This call is not known. Check that the whole link was copied.'
const words: ProblemWords = { CALL_NOT_FOUND: lost, VALIDATION_ERROR: lost }

/** What the link of a call shows: `/join/:token`. */
export function JoinPage({ token }: { token: string }) {
  const client = useClient()
  const { value, error, isLoading, reload } = useLoaded(token, () => client.booking.invited({ token }))
  return (
    <BookingFrame title={value?.title ?? 'A call'}>
      {value ? (
        <CallCard call={value} token={token} />
      ) : error && !isLoading ? (
        <Blank icon="warn" title="This call cannot be shown">
          <LoadProblem error={error} words={words} />
          <button type="button" className="button small" onClick={reload}>
            Try again
          </button>
        </Blank>
      ) : (
        <Skeleton rows={3} label="Loading the call" />
      )}
    </BookingFrame>
  )
}
