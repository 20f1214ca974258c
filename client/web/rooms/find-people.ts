import type { Client } from '#client/sdk/types'
import { AppError } from '#shared/errors'
import { isolated, nameOf } from '../kit/format.ts'
import { roomTexts as t } from '../texts/rooms.ts'

const askedAtMost = 200
const isId = (word: string) => /^0x[0-9a-f]{40}$/i.test(word) || word.includes(':')

/** Reads a list of people, separated by commas: names of people in the public room, usernames or addresses. Returns their ids. */
export async function findPeople(client: Client, written: string): Promise<string[]> {
  const words = written
    .split(/[,\n]+/)
    .map((word) => word.trim())
    .filter(Boolean)
  if (words.every(isId)) return words
  const { members } = await client.rooms.members({ room: { type: 'alpha', id: null }, limit: askedAtMost })
  const find = async (word: string): Promise<string> => {
    if (isId(word)) return word
    const called = members.filter(
      ({ name, user_address }) => nameOf(name, user_address).toLowerCase() === isolated(word).toLowerCase(),
    )
    if (called.length > 1) throw new Error(t.people.ambiguous({ count: called.length, name: word }))
    if (called[0]) return called[0].user_address
    const { address } = await client.accounts.resolveUsername({ username: word.replace(/^@/, '') }).catch((error) => {
      const isUnknown = error instanceof AppError && (error.status === 404 || error.status === 400)
      throw isUnknown ? new Error(t.people.unknown({ name: word })) : error
    })
    return address
  }
  return Promise.all(words.map(find))
}
