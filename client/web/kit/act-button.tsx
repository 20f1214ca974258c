import { type ComponentProps, useState } from 'react'
import { problemText } from './problem.ts'
import { useTell } from './toasts.tsx'

type ActProps = Omit<ComponentProps<'button'>, 'type' | 'onClick'> & { onPress: () => Promise<unknown> }

/** A button that ignores further presses until its action has ended and while it is disabled, keeps the focus during that time, and reports a failure. */
export function ActButton({ onPress, disabled = false, ...button }: ActProps) {
  const tell = useTell()
  const [isBusy, setBusy] = useState(false)
  const isOff = isBusy || disabled
  const press = async () => {
    if (isOff) return
    setBusy(true)
    try {
      await onPress()
    } catch (error) {
      tell(problemText(error))
    }
    setBusy(false)
  }
  return <button type="button" {...button} aria-disabled={isOff || undefined} onClick={() => void press()} />
}
