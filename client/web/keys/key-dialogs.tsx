import { lazy, useState } from 'react'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useKey, useKeyTable } from './use-key.ts'

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))
const Switcher = lazy(async () => ({ default: (await import('../switcher/switcher.tsx')).Switcher }))

/** The dialogs that keys open on every screen. `onLeave` closes what would stay above the next screen. */
export function KeyDialogs({ onLeave }: { onLeave: () => void }) {
  const [open, setOpen] = useState<'switcher' | 'list' | null>(null)
  const close = () => setOpen(null)
  useKeyTable()
  useKey('switcher', () => setOpen(open === 'switcher' ? null : 'switcher'))
  useKey('list', () => setOpen('list'))
  return (
    <LazyBoundary key={open}>
      {open === 'switcher' && <Switcher onClose={close} onLeave={onLeave} />}
      {open === 'list' && <KeyList onClose={close} />}
    </LazyBoundary>
  )
}
