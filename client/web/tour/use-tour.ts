import { createContext, useContext, useEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useClient } from '../connection/client.ts'
import { useCut } from '../connection/cut.ts'
import { composerId } from '../kit/composer-id.ts'
import { problemText } from '../kit/problem.ts'
import { useTell } from '../kit/toasts.tsx'
import { stepIn, type TourStep } from './steps.ts'

interface Tour {
  /** The step that is being shown. */
  step: TourStep | null
  isOpening: boolean
  /** Call when the room of the step is loaded; `messageId` names a message that a moderator could act on. */
  arrived(messageId: string | null): void
  end(): void
  /** Whether what can be tried in the demo alone was put away; a reload shows it again. */
  isHidden: boolean
  hide(): void
}

/** In the demo, a link such as `#demo=send` opens a step of the tour. */
export function useTour(isDemo: boolean): Tour {
  const client = useClient()
  const [isCut, cut] = useCut()
  const tell = useTell()
  const asked = stepIn(useSyncExternalStore(listenToHash, hashOfPage))
  const [step, setStep] = useState<TourStep | null>(null)
  const [isHidden, setHidden] = useState(false)
  const begun = useRef<TourStep | null>(null)
  const isDue = useRef(false)

  useEffect(() => {
    if (begun.current === asked) return
    begun.current = isDemo ? asked : null
    if (!begun.current) return
    const wanted = begun.current
    if (isCut) cut(false)
    import('./begin.ts')
      .then(({ begin }) => begin(client, wanted))
      .then(
        () => {
          isDue.current = true
          setStep(wanted)
        },
        (cause: unknown) => {
          tell(problemText(cause))
          location.hash = ''
        },
      )
  }, [client, isCut, cut, tell, asked, isDemo])

  const arrived = (messageId: string | null) => {
    if (!isDue.current) return
    isDue.current = false
    if (step?.cuts) cut(true)
    const acted = step?.panel === 'moderation' && messageId !== null ? `m-${messageId}` : composerId
    document.getElementById(acted)?.focus()
  }
  return {
    step,
    isOpening: isDemo && asked !== null,
    arrived,
    end: () => setStep(null),
    isHidden,
    hide: () => setHidden(true),
  }
}

const hashOfPage = (): string => location.hash

/** The step is over where the address changes, by the router's events too. */
function listenToHash(listener: () => void): () => void {
  const events = ['hashchange', 'popstate', 'pushState', 'replaceState']
  for (const event of events) addEventListener(event, listener)
  return () => {
    for (const event of events) removeEventListener(event, listener)
  }
}

export const TourContext = createContext<Tour | null>(null)
export const useShownTour = (): Tour | null => useContext(TourContext)
