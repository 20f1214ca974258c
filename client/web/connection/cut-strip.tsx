import { Icon } from '../kit/icon.tsx'
import { useCut } from './cut.ts'

/** Shown while the connection is cut on purpose: explains that, and offers to reconnect. */
export function CutStrip() {
  const [isCut, cut] = useCut()
  if (!isCut) return null
  return (
    <p className="cut-strip" role="status">
      <Icon name="plug" />
      <span className="grow">You are cut off. What you write waits, and goes out in order.</span>
      <button type="button" className="button small" onClick={() => cut(false)}>
        Connect again
      </button>
    </p>
  )
}
