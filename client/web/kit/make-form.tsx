import type { ReactNode } from 'react'
import { Problem } from './notice.tsx'
import type { ProblemWords } from './problem.ts'
import { useSubmit } from './use-submit.ts'

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
  const { isBusy, problem, submit } = useSubmit(onMake)
  return (
    <form className="stack" aria-label={label} onSubmit={submit}>
      {children}
      <button type="submit" className="button main" disabled={isBusy}>
        {action}
      </button>
      <Problem error={problem} {...(words && { words })} />
    </form>
  )
}
