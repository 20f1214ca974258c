import { useEffect, useRef, useState } from 'react'
import type { LocalMessage } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { cut } from '#shared/kit/cut'
import { useBlocked } from '../accounts/use-blocked.ts'
import { isolated, nameOf } from '../kit/format.ts'
import { lineOf } from '../media/words.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'

const pauseMilliseconds = 1_500

/** Announces new messages of other people to screen readers, at a limited rate. */
export function Announcer({ messages }: { messages: readonly LocalMessage[] }) {
  const { account, isSealed } = useOpenRoom()
  const blocked = useBlocked()
  const [said, setSaid] = useState('')
  const lastSeq = useRef<number | null>(null)
  const newest = messages.findLast(({ local, sender_address }) => local === 'sent' && !blocked.has(sender_address))

  useEffect(() => {
    if (!newest) return
    if (lastSeq.current === null) lastSeq.current = newest.seq
    if (newest.seq <= lastSeq.current || isSameAccount(newest.sender_address, account)) return
    const timer = setTimeout(() => {
      lastSeq.current = newest.seq
      const who = nameOf(newest.sender.name, newest.sender_address)
      setSaid(
        isSealed
          ? t.newFrom({ name: who })
          : `${who}: ${isolated(cut(lineOf(newest.content, newest.message_type), 200))}`,
      )
    }, pauseMilliseconds)
    return () => clearTimeout(timer)
  }, [newest, account, isSealed])

  return (
    <div className="unseen" role="log" aria-live="polite" aria-label={t.news}>
      {said}
    </div>
  )
}
