import { getDocument, type PDFDocumentProxy, PDFWorker } from 'pdfjs-dist'
import { useEffect, useRef, useState } from 'react'
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
              <Near className={styles.page}>{() => <Page pdf={pdf} number={number} />}</Near>
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
  const canvas = useRef<HTMLCanvasElement>(null)
  const [isFaulty, setFaulty] = useState(false)
  useEffect(() => {
    const draw = async () => {
      const page = await pdf.getPage(number)
      const { width, height } = page.getViewport({ scale: 1 })
      const viewport = page.getViewport({ scale: Math.min(widest / width, highest / height) })
      if (!canvas.current) return
      Object.assign(canvas.current, { width: Math.floor(viewport.width), height: Math.floor(viewport.height) })
      await page.render({ canvas: canvas.current, viewport }).promise
    }
    draw().catch(() => setFaulty(true))
  }, [pdf, number])
  if (isFaulty) return <MediaFault text={t.faults.pdf} />
  return <canvas ref={canvas} role="img" aria-label={t.file.page({ number })} />
}
