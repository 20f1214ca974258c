import { createContext, type ReactNode, useCallback, useContext, useState } from 'react'
import { problemText } from './problem.ts'

const shownMilliseconds = 5_000

type Tell = (text: string) => void
const ToastContext = createContext<Tell>(() => {})

/** Says a short thing at the foot of the page, politely. */
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
  const [toasts, setToasts] = useState<readonly { id: string; text: string }[]>([])
  const tell = useCallback((text: string) => {
    const id = crypto.randomUUID()
    setToasts((shown) => [...shown.slice(-2), { id, text }])
    setTimeout(() => setToasts((shown) => shown.filter((toast) => toast.id !== id)), shownMilliseconds)
  }, [])
  return (
    <ToastContext value={tell}>
      {children}
      <div className="toasts" role="status" aria-live="polite">
        {toasts.map(({ id, text }) => (
          <p key={id}>{text}</p>
        ))}
      </div>
    </ToastContext>
  )
}
