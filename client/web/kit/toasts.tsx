import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { problemText } from './problem.ts'

export const shownMilliseconds = 5_000

/** What can be done about it while it is shown. */
interface Answer {
  title: string
  onPress: () => void
}
/** Answers how to take it back early. */
type Tell = (text: string, answer?: Answer) => () => void
const ToastContext = createContext<Tell>(() => () => {})

/** Says a short thing at the head of the page, politely. */
export const useTell = (): Tell => useContext(ToastContext)

/** Runs something and tells when it fails. */
export function useAttempt(): (act: () => Promise<unknown>) => void {
  const tell = useTell()
  return useCallback(
    (act) => {
      act().catch((error) => tell(problemText(error)))
    },
    [tell],
  )
}

export function Toasts({ children }: { children: ReactNode }) {
  const [toasts, setToasts] = useState<readonly { id: string; text: string; answer?: Answer | undefined }[]>([])
  const tell = useCallback<Tell>((text, answer) => {
    const id = crypto.randomUUID()
    const hide = () => setToasts((shown) => shown.filter((toast) => toast.id !== id))
    setToasts((shown) => [...shown.slice(-2), { id, text, answer }])
    setTimeout(hide, shownMilliseconds)
    return hide
  }, [])
  return (
    <ToastContext value={tell}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text, answer }) => (
          <p key={id}>
            {text}
            {answer && (
              <button type="button" onClick={answer.onPress}>
                {answer.title}
              </button>
            )}
          </p>
        ))}
      </div>
    </ToastContext>
  )
}
