import { lazy } from 'react'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'

const EmojiPicker = lazy(async () => ({ default: (await import('./emoji-picker.tsx')).EmojiPicker }))

/** The list of all emoji, loaded when it is first asked for. */
export const PickEmoji = (props: { onPick: (emoji: string) => void; onClose: () => void }) => (
  <LazyBoundary>
    <EmojiPicker {...props} />
  </LazyBoundary>
)
