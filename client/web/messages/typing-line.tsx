import type { Typist } from '#client/sdk/types'
import { isSameAccount } from '#shared/kit/accounts'
import { useBlocked } from '../accounts/use-blocked.ts'
import { nameOf } from '../kit/format.ts'
import { useOpenRoom } from '../rooms/room-context.ts'
import { messageTexts as t } from '../texts/messages.ts'
import styles from './messages.module.css'

export function TypingLine({ typing }: { typing: readonly Typist[] }) {
  const { account } = useOpenRoom()
  const blocked = useBlocked()
  const names = typing
    .filter(({ id }) => !isSameAccount(id, account) && !blocked.has(id))
    .map(({ id, name }) => nameOf(name, id))
  return <p className={styles.typing}>{textOf(names)}</p>
}

function textOf([first, second, third, ...more]: readonly string[]): string {
  if (!first) return ''
  if (!second) return t.typing.one({ first })
  if (!third) return t.typing.two({ first, second })
  return more.length > 0 ? t.typing.many : t.typing.three({ first, second, third })
}
