import { useEffect, useRef, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import { useClient } from '../../connection/client.ts'

type LinkState =
  | { state: 'opening' }
  | { state: 'asking'; email: string; open: () => void; leave: () => void }
  | { state: 'failed'; error: unknown }

/**
 * When the page was opened by a sign-in link: removes the token from the address at once, and uses it. If the link was not
 * requested in this browser, the person is asked first, as somebody else's link would sign them in as somebody else.
 */
export function useSignInLink(onEnter: (user: SignInUser) => void): LinkState | null {
  const client = useClient()
  const [link, setLink] = useState<LinkState | null>(null)
  const enter = useRef(onEnter)
  enter.current = onEnter
  useEffect(() => {
    const { token, redirect } = takeLink()
    if (token === null) return
    const fail = (error: unknown) => setLink({ state: 'failed', error })
    const open = () => {
      setLink({ state: 'opening' })
      client.email.openLink({ token, updates: false }).then((answer) => {
        enter.current(client.enter(answer))
        if (redirect !== null) location.assign(redirect)
      }, fail)
    }
    setLink({ state: 'opening' })
    client.email.checkLink({ token }).then(({ email, asked_here }) => {
      if (asked_here) open()
      else setLink({ state: 'asking', email, open, leave: () => setLink(null) })
    }, fail)
  }, [client])
  return link
}

function takeLink(): { token: string | null; redirect: string | null } {
  const { searchParams: given, pathname, hash } = new URL(location.href)
  if (given.get('sign-in') !== 'email') return { token: null, redirect: null }
  history.replaceState(null, '', pathname + hash)
  const redirect = given.get('redirect')
  const isOurs = redirect !== null && new URL(redirect, location.origin).origin === location.origin
  return { token: given.get('token'), redirect: isOurs ? redirect : null }
}
