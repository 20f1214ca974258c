import { z } from 'zod'
import { Address, repeatable } from '#shared/kit/primitives'
import { Emoji, Name } from './room-fields.ts'

/** What clients send whose groups have a key of their own: they must learn that this one would have none. */
const unkept = z
  .union([z.literal(''), z.literal(false), z.null()], {
    error: 'Groups with a key or a password are not kept here: the server reads what is said in a group',
  })
  .optional()

/** What a new group is made of. */
export const NewGroup = z.object({
  ...repeatable,
  name: Name,
  emoji: Emoji.default('👥'),
  memberAddresses: z.array(Address).max(100).default([]),
  symmetricKey: unkept,
  symmetric_key: unkept,
  password: unkept,
  passwordProtected: unkept,
  password_protected: unkept,
  passwordSalt: unkept,
  password_salt: unkept,
  passwordHash: unkept,
  password_hash: unkept,
})
