import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useRef, useState } from 'react'
import { problemText } from '../kit/problem.ts'
import { shownMilliseconds, useTell } from '../kit/toasts.tsx'
import { messageTexts as t } from '../texts/messages.ts'

interface Deletion {
  id: string
  /** The key of its room. */
  room: string
  /** The name of the message's author. */
  name: string
  send: () => Promise<unknown>
}
interface Pending extends Deletion {
  /** False once the request was sent. */
  canUndo: boolean
}
interface Deletions {
  /** The deletions that the server has not answered yet. */
  pending: readonly Pending[]
  /** Hides a message at once, and sends its deletion after 5 s, or when the page is left earlier. */
  remove(deletion: Deletion): void
  undo(id: string): void
  /** Sends all of them now. */
  flush(): Promise<unknown>
}

const none: Deletions = { pending: [], remove: () => {}, undo: () => {}, flush: () => Promise.resolve() }
const DeletionsContext = createContext(none)
export const useDeletions = (): Deletions => useContext(DeletionsContext)

export function DeletionsUndone({ children }: { children: ReactNode }) {
  const tell = useTell()
  const [pending, setPending] = useState<readonly Pending[]>([])
  const due = useRef(new Map<string, { send: Deletion['send']; stop: () => void }>())

  const show = useCallback((id: string) => setPending((rows) => rows.filter((row) => row.id !== id)), [])
  const send = useCallback(
    async (id: string) => {
      const found = due.current.get(id)
      if (!found) return
      found.stop()
      setPending((rows) => rows.map((row) => (row.id === id ? { ...row, canUndo: false } : row)))
      await found.send().catch((error) => tell(problemText(error)))
      show(id)
    },
    [show, tell],
  )
  const flush = useCallback(() => Promise.all([...due.current.keys()].map(send)), [send])
  useEffect(() => {
    const leave = () => void flush()
    const hide = () => void (document.hidden && flush())
    addEventListener('pagehide', leave)
    document.addEventListener('visibilitychange', hide)
    return () => {
      removeEventListener('pagehide', leave)
      document.removeEventListener('visibilitychange', hide)
      leave()
    }
  }, [flush])

  const deletions = useMemo<Deletions>(() => {
    const undo = (id: string) => {
      const found = due.current.get(id)
      if (!found) return
      found.stop()
      show(id)
    }
    const remove = (deletion: Deletion) => {
      const { id } = deletion
      if (due.current.has(id)) return
      const withdraw = tell(t.deletion.done, { title: t.deletion.undo, onPress: () => undo(id) })
      const timer = setTimeout(() => send(id), shownMilliseconds)
      const stop = () => {
        clearTimeout(timer)
        withdraw()
        due.current.delete(id)
      }
      due.current.set(id, { send: deletion.send, stop })
      setPending((rows) => [...rows, { ...deletion, canUndo: true }])
    }
    return { pending, remove, undo, flush }
  }, [pending, send, show, tell, flush])
  return <DeletionsContext value={deletions}>{children}</DeletionsContext>
}
