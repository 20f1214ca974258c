import { createContext, type ReactNode, useCallback, useContext, useRef, useState } from 'react'
import { createPortal } from 'react-dom'
import { problemText } from './problem.ts'
import { useTopDialog } from './top-dialog.ts'

export const shownMilliseconds = 5_000

/** A button on the toast. */
interface Answer {
  title: string
  onPress: () => void
}
/** Returns a function that closes the toast early. */
type Tell = (text: string, answer?: Answer) => () => void
const ToastContext = createContext<Tell>(() => () => {})

/** Shows a toast at the top of the page, above an open dialog, in a polite live region. */
export const useTell = (): Tell => useContext(ToastContext)

/** Shows a toast in the place of the one that it has shown before; null hides it. */
export function useTellLatest(): (text: string | null) => void {
  const tell = useTell()
  const hide = useRef(() => {})
  return useCallback(
    (text) => {
      hide.current()
      hide.current = text === null ? () => {} : tell(text)
    },
    [tell],
  )
}

/** Runs an action and shows a toast if it fails. */
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
  const dialog = useTopDialog()
  const shown = (
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
  )
  return (
    <ToastContext value={tell}>
      {children}
      {dialog ? createPortal(shown, dialog) : shown}
    </ToastContext>
  )
}
