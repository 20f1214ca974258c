import { lazy, useRef, useState } from 'react'
import { Icon } from '../kit/icon.tsx'
import { LazyBoundary } from '../kit/lazy-boundary.tsx'
import { problemText } from '../kit/problem.ts'
import { useLoaded } from '../kit/use-loaded.ts'
import { MediaFault } from './media-fault.tsx'
import { Near } from './near.tsx'
import { whyNotShown } from './stored.ts'
import { useObjectUrl } from './use-object-url.ts'

const Lightbox = lazy(async () => ({ default: (await import('./lightbox.tsx')).Lightbox }))

interface PictureProps {
  alt: string
  kind: 'photo' | 'gif' | 'pixel_art'
}

/** A picture that is stored as it is. Its place is the same before and after it is loaded. */
export function StoredPicture({ url, ...picture }: PictureProps & { url: string }) {
  const [fault, setFault] = useState<string | null>(null)
  const [isMoving, setMoving] = useState(
    picture.kind !== 'gif' || !matchMedia('(prefers-reduced-motion: reduce)').matches,
  )
  if (!isMoving) {
    return (
      <div className={`picture-frame ${picture.kind}`}>
        <button type="button" className="button small" onClick={() => setMoving(true)}>
          <Icon name="play" />
          Play {picture.alt}
        </button>
      </div>
    )
  }
  return (
    <div className={`picture-frame ${picture.kind}`}>
      {fault ? (
        <MediaFault text={fault} onRetry={() => setFault(null)} />
      ) : (
        <Picture {...picture} src={url} onFault={() => void whyNotShown(url).then(setFault)} />
      )}
    </div>
  )
}

/** A picture that was sealed: it is loaded and opened when it comes into view. */
export function SealedPicture({ open, ...picture }: PictureProps & { open: () => Promise<Blob> }) {
  return <Near className={`picture-frame ${picture.kind}`}>{() => <Opened open={open} {...picture} />}</Near>
}

function Opened({ open, ...picture }: PictureProps & { open: () => Promise<Blob> }) {
  const { value, error, reload } = useLoaded('picture', open)
  const src = useObjectUrl(value)
  const [isFaulty, setFaulty] = useState(false)
  if (error) return <MediaFault text={problemText(error)} onRetry={reload} />
  if (isFaulty) return <MediaFault text="This is no picture that your browser can show." />
  if (!src) return <span className="picture-waits" role="status" aria-label={`Loading: ${picture.alt}`} />
  return <Picture {...picture} src={src} onFault={() => setFaulty(true)} />
}

function Picture(props: PictureProps & { src: string; onFault: () => void }) {
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button ref={button} type="button" className="picture" title="Show large" onClick={() => setOpen(true)}>
        <img
          src={props.src}
          alt={props.alt}
          loading="lazy"
          decoding="async"
          referrerPolicy="no-referrer"
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
