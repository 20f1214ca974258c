import { type CSSProperties, type ReactNode, useEffect, useRef, useState } from 'react'

/** Reserves the place of what is loaded once it comes near the part of the page that is seen; with `isReleased` it is given up when it is far again. */
export function Near(props: {
  className: string
  style?: CSSProperties
  isReleased?: boolean
  children: () => ReactNode
}) {
  const { className, style, isReleased = false, children } = props
  const place = useRef<HTMLDivElement>(null)
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    const element = place.current
    if (!element) return
    const watch = new IntersectionObserver(
      ([seen]) => {
        if (!seen?.isIntersecting && !isReleased) return
        setNear(seen?.isIntersecting ?? false)
        if (!isReleased) watch.disconnect()
      },
      { rootMargin: '600px', scrollMargin: '600px' },
    )
    watch.observe(element)
    return () => watch.disconnect()
  }, [isReleased])
  return (
    <div ref={place} className={className} style={style}>
      {isNear && children()}
    </div>
  )
}
