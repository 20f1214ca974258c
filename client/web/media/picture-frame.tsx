import { type CSSProperties, type ReactNode, type SyntheticEvent, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { keepBelow } from '../messages/use-scroll.ts'
import styles from './media.module.css'

/** Width by height of the pictures that were loaded, by their address: they have their place at once where they are shown again. */
const shapes = new Map<string, number>()
const mostShapes = 1_000
/** A picture that is higher or wider than this stands within such a frame. */
const [slimmest, widest] = [0.4, 3]

/** The place of a picture: of a common shape until it is loaded, then of its own. Nothing that is read moves by that. */
export function PictureFrame(props: {
  kind: 'photo' | 'gif' | 'pixel_art'
  url?: string | undefined
  children: (onLoad: (event: SyntheticEvent<HTMLImageElement>) => void) => ReactNode
}) {
  const { kind, url, children } = props
  const frame = useRef<HTMLDivElement>(null)
  const [loaded, setLoaded] = useState(() => (url === undefined ? undefined : shapes.get(url)))
  const learn = ({ currentTarget: { naturalWidth, naturalHeight } }: SyntheticEvent<HTMLImageElement>) => {
    if (naturalWidth === 0 || naturalHeight === 0) return
    const shape = Math.min(widest, Math.max(slimmest, naturalWidth / naturalHeight))
    if (url !== undefined) remember(url, shape)
    keepBelow(frame.current, () => flushSync(() => setLoaded(shape)))
  }
  return (
    <div
      ref={frame}
      className={`${styles.pictureFrame} ${kind}`}
      style={loaded === undefined ? undefined : ({ '--shape': loaded } as CSSProperties)}
    >
      {children(learn)}
    </div>
  )
}

function remember(url: string, shape: number): void {
  shapes.delete(url)
  shapes.set(url, shape)
  const [oldest] = shapes.keys()
  if (shapes.size > mostShapes && oldest !== undefined) shapes.delete(oldest)
}
