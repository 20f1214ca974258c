import {
  type CSSProperties,
  lazy,
  type ReactEventHandler,
  type ReactNode,
  type SyntheticEvent,
  useRef,
  useState,
} from 'react'
import { flushSync } from 'react-dom'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { keepBelow } from '../messages/use-scroll.ts'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './media.module.css'
import { MediaFault } from './media-fault.tsx'
import { Near } from './near.tsx'
import { whyNotShown } from './stored.ts'
import { useObjectUrl } from './use-object-url.ts'

/** Width by height of the pictures that were loaded, by their address: they have their place at once where they are shown again. */
const shapes = new Map<string, number>()
const mostShapes = 1_000
/** A picture that is higher or wider than this stands within such a frame. */
const [slimmest, widest] = [0.4, 3]

/** The place of a picture: of a common shape until it is loaded, then of its own. Nothing that is read moves by that. */
function PictureFrame(props: {
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

const Lightbox = lazy(async () => ({ default: (await import('./lightbox.tsx')).Lightbox }))

interface PictureProps {
  alt: string
  kind: 'photo' | 'gif' | 'pixel_art'
}

/** A picture that is stored as it is. */
export function StoredPicture({ url, ...picture }: PictureProps & { url: string }) {
  const [fault, setFault] = useState<string | null>(null)
  const [isMoving, setMoving] = useState(
    picture.kind !== 'gif' || !matchMedia('(prefers-reduced-motion: reduce)').matches,
  )
  return (
    <PictureFrame kind={picture.kind} url={url}>
      {(onLoad) => {
        if (fault) return <MediaFault text={fault} onRetry={() => setFault(null)} />
        if (isMoving)
          return <Picture {...picture} src={url} onLoad={onLoad} onFault={() => void whyNotShown(url).then(setFault)} />
        return (
          <button type="button" className="button small" onClick={() => setMoving(true)}>
            <Icon name="play" />
            {t.lightbox.play({ name: picture.alt })}
          </button>
        )
      }}
    </PictureFrame>
  )
}

type Sealed = PictureProps & { open: () => Promise<Blob> }

/** A picture that was sealed: it is loaded and opened when it comes into view. `url` is where it lies, sealed. */
export function SealedPicture({ url, ...picture }: Sealed & { url?: string }) {
  return (
    <PictureFrame kind={picture.kind} url={url}>
      {(onLoad) => <Near className={styles.pictureInside}>{() => <Opened {...picture} onLoad={onLoad} />}</Near>}
    </PictureFrame>
  )
}

function Opened({ open, ...picture }: Sealed & { onLoad: ReactEventHandler<HTMLImageElement> }) {
  const { value, error, reload } = useLoaded('picture', open)
  const src = useObjectUrl(value)
  const [isFaulty, setFaulty] = useState(false)
  if (error) return <MediaFault text={problemText(error)} onRetry={reload} />
  if (isFaulty) return <MediaFault text={t.faults.notPicture} />
  if (!src) return <span className={styles.pictureWaits} role="status" aria-label={t.loading({ name: picture.alt })} />
  return <Picture {...picture} src={src} onFault={() => setFaulty(true)} />
}

interface Loading {
  src: string
  onLoad: ReactEventHandler<HTMLImageElement>
  onFault: () => void
}

function Picture(props: PictureProps & Loading) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        ref={button}
        type="button"
        className={styles.picture}
        title={t.lightbox.open}
        onClick={() => setOpen(true)}
      >
        <img
          src={props.src}
          alt={props.alt}
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
          onLoad={props.onLoad}
          onError={props.onFault}
        />
      </button>
      {isOpen && (
        <LazyBoundary>
          <Lightbox opener={button} onClose={() => setOpen(false)} />
        </LazyBoundary>
      )}
    </>
  )
}
