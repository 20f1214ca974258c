import { useEffect, useRef, useState } from 'react'
import type { SignInUser } from '#client/sdk/types'
import { useClient } from '../connection/client.ts'

type LinkState = { state: 'opening' } | { state: 'failed'; error: unknown }

/** Where the address of the page is a link from a letter: uses it up, and takes it out of the address at once. */
export function useSignInLink(onEnter: (user: SignInUser) => void): LinkState | null {
  const client = useClient()
  const [link, setLink] = useState<LinkState | null>(null)
  const enter = useRef(onEnter)
  enter.current = onEnter
  useEffect(() => {
    const { token, redirect } = takeLink()
    if (token === null) return
    setLink({ state: 'opening' })
    client.email.openLink({ token }).then(
      (answer) => {
        enter.current(client.enter(answer))
        if (redirect !== null) location.assign(redirect)
      },
      (error: unknown) => setLink({ state: 'failed', error }),
    )
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
