import { lazy, useState } from 'react'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { useKey, useKeyTable } from './use-key.ts'

const KeyList = lazy(async () => ({ default: (await import('./key-list.tsx')).KeyList }))

/** The listener for all keys, and the list of them. */
export function KeyDialogs() {
  const [open, setOpen] = useState<'list' | null>(null)
  const close = () => setOpen(null)
  useKeyTable()
  useKey('list', () => setOpen('list'))
  return <LazyBoundary key={open}>{open === 'list' && <KeyList onClose={close} />}</LazyBoundary>
}
