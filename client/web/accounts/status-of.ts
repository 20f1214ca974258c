import { isolated } from '../kit/format.ts'

interface Said {
  status_emoji: string | null
  status_text: string | null
}

/** What somebody says of the moment, in one line; empty where that is nothing. */
export const statusOf = (said: Said | null | undefined): string =>
  [said?.status_emoji, said?.status_text && isolated(said.status_text)].filter(Boolean).join(' ')
