import { useEffect, useReducer } from 'react'
import type { Client } from '#client/sdk/types'
import { chosenName } from '#shared/kit/person-name'
import { useClient } from '../connection/client.ts'
import { nameOf } from '../kit/format.ts'

type Names = Map<string, string | null>
const namesOf = new WeakMap<Client, Names>()

/** The names of people of whom only the id is known; each is requested once. */
export function useNames(ids: readonly string[]): (id: string) => string {
  const client = useClient()
  const [, tell] = useReducer((count: number) => count + 1, 0)
  const names = namesOf.get(client) ?? new Map<string, string | null>()
  namesOf.set(client, names)
  const wanted = [...new Set(ids)].join(' ')
  useEffect(() => {
    for (const address of wanted.split(' ').filter((id) => id && !names.has(id))) {
      names.set(address, null)
      client.accounts.publicUser({ address }).then(
        ({ user }) => {
          names.set(address, user && chosenName(user))
          tell()
        },
        () => names.delete(address),
      )
    }
  }, [client, names, wanted])
  return (id) => nameOf(names.get(id), id)
}
