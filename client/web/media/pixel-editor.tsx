import {
  type CSSProperties,
  type KeyboardEvent,
  type PointerEvent,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { Dialog } from '../kit/dialog.tsx'
import { Icon } from '../kit/icon.tsx'
import { mediaTexts as t } from '../texts/media.ts'
import { blankOf, type Drawing, draw, isBlank, palette, type Side, sides, strokeIn } from './drawing.ts'
import styles from './pixel-editor.module.css'

const mostSteps = 100
const shownPixels = 768

/** Draws pixel art by pointer or by keyboard, beginning with `first`, where a drawing was left unfinished. */
export function PixelEditor(props: {
  first: Drawing | null
  onChange: (drawing: Drawing) => void
  onDraw: (drawing: Drawing) => void
  onClose: () => void
}) {
  const { first, onChange, onDraw, onClose } = props
  const [drawing, setDrawing] = useState(first ?? blankOf(sides[0]))
  useEffect(() => onChange(drawing), [onChange, drawing])
  const [before, setBefore] = useState<readonly Drawing[]>([])
  const [colour, setColour] = useState<string>(palette[0].value)
  const { side } = drawing
  const keep = () => setBefore([...before, drawing].slice(-mostSteps))
  const become = (next: Drawing) => {
    keep()
    setDrawing(next)
  }
  const undo = () => {
    const last = before.at(-1)
    if (!last) return
    setDrawing(last)
    setBefore(before.slice(0, -1))
  }

  return (
    <Dialog title={t.editor.title} onClose={onClose}>
      <div className="stack">
        <div className="row wrap">
          <fieldset className="row">
            <legend className="unseen">{t.editor.size}</legend>
            {sides.map((one) => (
              <label key={one} className="check">
                <input type="radio" name="side" checked={one === side} onChange={() => become(blankOf(one))} />
                {one} × {one}
              </label>
            ))}
          </fieldset>
          <span className="grow" />
          <div className="row">
            <button type="button" className="button small" disabled={before.length === 0} onClick={undo}>
              <Icon name="reply" />
              {t.editor.undo}
            </button>
            <button
              type="button"
              className="button small plain"
              disabled={isBlank(drawing)}
              onClick={() => become(blankOf(side))}
            >
              {t.editor.clear}
            </button>
          </div>
        </div>
        <Board
          key={side}
          drawing={drawing}
          onBegin={keep}
          onStroke={(from, to) => setDrawing((now) => strokeIn(now, from, to, colour))}
          onUndo={undo}
        />
        <fieldset className={styles.paletteColours}>
          <legend className="unseen">{t.editor.color}</legend>
          {palette.map(({ name, value }) => (
            <button
              key={value}
              type="button"
              aria-label={t.colors[name]}
              title={t.colors[name]}
              aria-pressed={value === colour}
              style={{ background: value }}
              onClick={() => setColour(value)}
            />
          ))}
        </fieldset>
        <div className="row end">
          <button type="button" className="button main" disabled={isBlank(drawing)} onClick={() => onDraw(drawing)}>
            {t.editor.attach}
          </button>
        </div>
      </div>
    </Dialog>
  )
}

/** The cells. `onBegin` is called before each stroke; a stroke goes from one cell to another. */
function Board(props: {
  drawing: Drawing
  onBegin: () => void
  onStroke: (from: number, to: number) => void
  onUndo: () => void
}) {
  const { drawing } = props
  const { side, cells } = drawing
  const canvas = useRef<HTMLCanvasElement>(null)
  const last = useRef<number | null>(null)
  const [cursor, setCursor] = useState(0)
  const [isByKeyboard, setByKeyboard] = useState(false)
  useLayoutEffect(() => {
    if (canvas.current) draw(drawing, canvas.current)
  }, [drawing])

  const point = (event: PointerEvent<HTMLCanvasElement>) => {
    if (event.type === 'pointerdown') {
      event.currentTarget.setPointerCapture(event.pointerId)
      last.current = cellAt(event, side)
      props.onBegin()
    }
    if (last.current === null) return
    const at = cellAt(event, side)
    props.onStroke(last.current, at)
    last.current = at
    setCursor(at)
    setByKeyboard(false)
  }
  const lift = () => {
    last.current = null
  }
  const press = (event: KeyboardEvent) => {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    if (move) setCursor(beside(cursor, move, side))
    else if (event.key.toLowerCase() === 'z' && (event.ctrlKey || event.metaKey)) props.onUndo()
    else if (event.key === ' ' || event.key === 'Enter') {
      props.onBegin()
      props.onStroke(cursor, cursor)
    } else return
    event.preventDefault()
    setByKeyboard(true)
  }

  const [row, column] = [Math.floor(cursor / side), cursor % side]
  const colour = palette.find(({ value }) => value === cells[cursor])?.name
  return (
    <>
      <div
        className={styles.drawing}
        style={{ '--row': row, '--column': column, '--side': side } as CSSProperties}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: one draws in it with the keyboard
        tabIndex={0}
        role="application"
        aria-label={t.editor.board({ side })}
        aria-describedby="drawing-help"
        onKeyDown={press}
      >
        <canvas
          ref={canvas}
          width={shownPixels}
          height={shownPixels}
          onPointerDown={point}
          onPointerMove={point}
          onPointerUp={lift}
          onPointerCancel={lift}
        />
        {isByKeyboard && <span className={styles.drawingCursor} aria-hidden="true" />}
      </div>
      <p className="hint" id="drawing-help">
        {t.editor.hint}
      </p>
      <p className="unseen" role="status">
        {isByKeyboard && t.editor.cell({ row: row + 1, column: column + 1, color: colour ? t.colors[colour] : '' })}
      </p>
    </>
  )
}

function cellAt({ clientX, clientY, currentTarget }: PointerEvent<HTMLCanvasElement>, side: Side): number {
  const { left, top, width, height } = currentTarget.getBoundingClientRect()
  const column = within(Math.floor(((clientX - left) / width) * side), side)
  return within(Math.floor(((clientY - top) / height) * side), side) * side + column
}

function beside(cell: number, [right = 0, down = 0]: readonly number[], side: Side): number {
  return within(Math.floor(cell / side) + down, side) * side + within((cell % side) + right, side)
}

const within = (value: number, side: Side): number => Math.min(Math.max(value, 0), side - 1)
