import { useEffect, useState } from 'react'

/** An address of a blob for elements of this page, until it is not shown any more. */
export function useObjectUrl(blob: Blob | null): string | null {
  const [shown, setShown] = useState<string | null>(null)
  useEffect(() => {
    if (!blob) return
    const made = URL.createObjectURL(blob)
    setShown(made)
    return () => {
      setShown(null)
      URL.revokeObjectURL(made)
    }
  }, [blob])
  return shown
}
