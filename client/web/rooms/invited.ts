import { useState } from 'react'
import { hashOfPage } from './route.ts'

const path = /^\/invite\/([^/]+)$/

/** The token of an invitation in the address of the page; null without one. */
const invitedBy = (): string | null => path.exec(location.pathname)?.[1] ?? null

/** The invitation in the address of the page, until it is answered. */
export function useInvited(): { token: string | null; answered: () => void } {
  const [token, setToken] = useState(invitedBy)
  const answered = () => {
    history.replaceState(null, '', `/${hashOfPage()}`)
    setToken(null)
  }
  return { token, answered }
}
