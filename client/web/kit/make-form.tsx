import { type FormEvent, type ReactNode, useState } from 'react'
import { Problem } from './notice.tsx'
import type { ProblemWords } from './problem.ts'

interface MakeFormProps {
  label: string
  /** What the button says. */
  action: string
  /** Better texts for some refusals. */
  words?: ProblemWords
  onMake: () => Promise<void>
  children: ReactNode
}

/** A form that makes something: it cannot be sent again before its action has ended, and says below the button why that failed. */
export function MakeForm({ label, action, words, onMake, children }: MakeFormProps) {
  const [isBusy, setBusy] = useState(false)
  const [error, setError] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    try {
      await onMake()
      setError(null)
    } catch (cause) {
      setError(cause)
    }
    setBusy(false)
  }
  return (
    <form className="stack" aria-label={label} onSubmit={submit}>
      {children}
      <button type="submit" className="button main" disabled={isBusy}>
        {action}
      </button>
      <Problem error={error} {...(words && { words })} />
    </form>
  )
}
