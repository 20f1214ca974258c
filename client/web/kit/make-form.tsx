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
  /** Is all there that it needs? */
  isReady?: boolean
  isGrave?: boolean
  onMake: () => Promise<void>
  children: ReactNode
}

/** A form that makes something: it cannot be sent again before its action has ended, and says below the button why that failed. */
export function MakeForm(props: MakeFormProps) {
  const { label, action, words, isReady = true, isGrave = false, onMake, children } = props
  const { isBusy, problem, submit } = useSubmit(onMake)
  return (
    <form className="stack" aria-label={label} onSubmit={submit}>
      {children}
      <button type="submit" className={`button ${isGrave ? 'grave' : 'main'}`} disabled={isBusy || !isReady}>
        {action}
      </button>
      <Problem error={problem} {...(words && { words })} />
    </form>
  )
}
