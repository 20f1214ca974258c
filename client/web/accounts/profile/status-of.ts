import { isolated } from '../../kit/format.ts'
import { controlTexts } from '../../texts/controls.ts'

interface Said {
  status_emoji: string | null
  status_text: string | null
}

/** What somebody says of the moment, in a line that tells what it is, so that it passes for no username; empty where that is nothing. */
export function statusOf(said: Said | null | undefined): string {
  const words = [said?.status_emoji, said?.status_text && isolated(said.status_text)].filter(Boolean).join(' ')
  return words && controlTexts.status({ words })
}
