import { implement } from '#server/kernel/context'
import { messages as contract } from '#shared/api/messages'
import { sync } from './catch-up.ts'
import { history, pins, reactions } from './history.ts'
import { join, leave } from './listen.ts'
import { presence, presenceOf, typing } from './presence.ts'
import { read } from './reads.ts'
import { search } from './search.ts'
import { check, send } from './send.ts'
import { edit, pin, react, remove } from './touch.ts'

export const messages = implement('messages', contract, {
  join,
  leave,
  sync,
  history,
  search,
  send,
  check,
  edit,
  remove,
  react,
  reactions,
  pin,
  pins,
  read,
  typing,
  presence,
  presenceOf,
})
