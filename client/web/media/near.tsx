import { type ReactNode, useEffect, useRef, useState } from 'react'

/** Reserves the place of what is loaded once it comes near the part of the page that is seen. */
export function Near({ className, children }: { className: string; children: () => ReactNode }) {
  const place = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const watch = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting) return
        setNear(true)
        watch.disconnect()
      },
      { rootMargin: '600px' },
    )
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  return (
    <div ref={place} className={className}>
      {isNear && children()}
    </div>
  )
}
