import { useEffect, useRef, useState } from 'react'
import type { RoomState } from '#client/sdk/types'
import { useOpenRoom } from './room-context.ts'
import { hasRules, haveSeenRules, keepRulesSeen } from './seen-rules.ts'

/** Whether the rules are shown: when asked for, and by themselves the first time somebody is in a room that has some. */
export function useRulesSheet(state: RoomState): [isShown: boolean, show: (isShown: boolean) => void] {
  const { live, account, rights } = useOpenRoom()
  const [isShown, show] = useState(false)
  const isJudged = useRef(false)
  const isMet = state.status === 'live'
  const isNews = hasRules(state.rules) && !rights.isModerator && live.ref.type !== 'dm'
  useEffect(() => {
    if (!isMet || isJudged.current) return
    isJudged.current = true
    if (!isNews || haveSeenRules(account, live.ref)) return
    keepRulesSeen(account, live.ref)
    show(true)
  }, [isMet, isNews, account, live.ref])
  return [isShown, show]
}
