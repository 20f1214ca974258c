import { useEffect, useRef, useState } from 'react'

/** Takes files that are dropped anywhere on the page; true while some are held above it. */
export function useDropped(take: ((files: readonly File[]) => void) | null): boolean {
  const [isHeld, setHeld] = useState(false)
  const latest = useRef(take)
  latest.current = take
  useEffect(() => {
    const hold = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files') || document.querySelector('dialog[open]')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = latest.current ? 'copy' : 'none'
      setHeld(latest.current !== null)
    }
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) setHeld(false)
    }
    const drop = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      setHeld(false)
      latest.current?.([...event.dataTransfer.files])
    }
    document.addEventListener('dragover', hold)
    document.addEventListener('dragleave', leave)
    document.addEventListener('drop', drop)
    return () => {
      document.removeEventListener('dragover', hold)
      document.removeEventListener('dragleave', leave)
      document.removeEventListener('drop', drop)
    }
  }, [])
  return isHeld
}
