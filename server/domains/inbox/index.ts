import { implement } from '#server/kernel/context'
import { inbox as contract } from '#shared/api/inbox'
import { list } from './list.ts'

export const inbox = implement('inbox', contract, { list })
