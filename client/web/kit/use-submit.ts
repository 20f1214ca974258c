import { type FormEvent, useState } from 'react'

/** How a form is sent: not again before `act` has ended. `problem` is why that failed, until it is sent again. */
export function useSubmit(act: () => Promise<unknown>) {
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<unknown>(null)
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (isBusy) return
    setBusy(true)
    setProblem(null)
    await act().catch(setProblem)
    setBusy(false)
  }
  return { isBusy, problem, submit }
}
