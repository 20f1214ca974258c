import { getDocument, type PDFDocumentProxy, PDFWorker, type RenderTask } from 'pdfjs-dist'
import { type CSSProperties, useEffect, useRef, useState } from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { problemText } from '../kit/problem.ts'
import { mediaTexts as t } from '../texts/media.ts'
import styles from './file-card.module.css'
import { MediaFault } from './media-fault.tsx'
import { Near } from './near.tsx'

const mostPages = 100
const widest = 1_600
const highest = 4_000

/** A PDF, drawn page by page. Browsers show none in a frame with `sandbox`; the worker that reads it here has no rights either. */
export function PdfDialog(props: { name: string; open: () => Promise<Blob>; onClose: () => void }) {
  const { pdf, error } = usePdf(props.open)
  const count = pdf ? Math.min(pdf.numPages, mostPages) : 0
  return (
    <Dialog title={props.name} isBroad onClose={props.onClose}>
      {error ? (
        <MediaFault text={error} />
      ) : pdf ? (
        <ol className={styles.pages}>
          {Array.from({ length: count }, (_, at) => at + 1).map((number) => (
            <li key={number}>
              <Page pdf={pdf} number={number} />
            </li>
          ))}
        </ol>
      ) : (
        <p role="status">{t.loading({ name: props.name })}</p>
      )}
      {pdf && pdf.numPages > count && <p className="hint">{t.file.morePages({ count: pdf.numPages - count })}</p>}
    </Dialog>
  )
}

/** A PDF in a worker of its own, which ends with the component. The address of the worker lets it load and run nothing else. */
function usePdf(open: () => Promise<Blob>): { pdf: PDFDocumentProxy | null; error: string | null } {
  const [pdf, setPdf] = useState<PDFDocumentProxy | null>(null)
  const [error, setError] = useState<string | null>(null)
  const opening = useRef(open)
  useEffect(() => {
    const port = new Worker(new URL('pdfjs-dist/build/pdf.worker.min.mjs', import.meta.url), { type: 'module' })
    const read = async () => {
      const blob = await opening.current()
      const data = new Uint8Array(await blob.arrayBuffer())
      const options = { isEvalSupported: false, enableXfa: false, maxImageSize: 2 ** 26, verbosity: 0 }
      return getDocument({ data, worker: PDFWorker.create({ port }), ...options }).promise.catch(() => {
        throw new Error(t.faults.pdf)
      })
    }
    read().then(setPdf, (fault) => setError(problemText(fault)))
    return () => port.terminate()
  }, [])
  return { pdf, error }
}

function Page({ pdf, number }: { pdf: PDFDocumentProxy; number: number }) {
  const [shape, setShape] = useState<number | null>(null)
  return (
    <Near className={styles.page} isReleased {...(shape !== null && { style: { '--shape': shape } as CSSProperties })}>
      {() => <DrawnPage pdf={pdf} number={number} onShape={setShape} />}
    </Near>
  )
}

/** Many drawn pages would not fit into the memory of a phone, so that a page is drawn only while it is near. */
function DrawnPage(props: { pdf: PDFDocumentProxy; number: number; onShape: (shape: number) => void }) {
  const { pdf, number, onShape } = props
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isFaulty, setFaulty] = useState(false)
  useEffect(() => {
    const paper = canvas.current
    let drawing: RenderTask | null = null
    let isGone = false
    const draw = async () => {
      const page = await pdf.getPage(number)
      if (isGone || !paper) return
      const { width, height } = page.getViewport({ scale: 1 })
      onShape(width / height)
      const across = Math.min(widest, paper.clientWidth * devicePixelRatio)
      const viewport = page.getViewport({ scale: Math.min(across / width, highest / height) })
      Object.assign(paper, { width: Math.floor(viewport.width), height: Math.floor(viewport.height) })
      drawing = page.render({ canvas: paper, viewport })
      await drawing.promise
    }
    draw().catch(() => isGone || setFaulty(true))
    return () => {
      isGone = true
      drawing?.cancel()
      if (paper) paper.width = 0
    }
  }, [pdf, number, onShape])
  if (isFaulty) return <MediaFault text={t.faults.pdf} />
  return <canvas ref={canvas} role="img" aria-label={t.file.page({ number })} />
}
