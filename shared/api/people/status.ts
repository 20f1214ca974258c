import { z } from 'zod'
import { operation } from '#shared/kit/contract'
import { Done } from '#shared/kit/primitives'
import { AuthMethod } from './identity.ts'

export const status = {
  get: operation({
    summary:
      'What answers here, the ways to sign in, and whether it is the demo; the demo and the mailboxes are told to this machine alone.',
    http: 'GET /api/status',
    access: 'public',
    limit: 'general',
    cost: 'cheap',
    input: z.object({}),
    output: z.object({
      name: z.string(),
      version: z.string(),
      node: z.string(),
      demo: z.boolean(),
      /** Media of messages lie below this address; null where this server keeps no files. */
      media: z.string().nullable(),
      /** Every way in that is configured. */
      sign_in: z.array(AuthMethod),
      /** Where letters are shown that this server does not send. */
      mailbox: z.string().nullable(),
      /** Whether people can write to those who run it. */
      contact: z.boolean(),
      /** Whether phone numbers can be verified here. */
      phone: z.boolean(),
      /** Where texts are shown that this server does not send. */
      phone_mailbox: z.string().nullable(),
      /** Where meetings are held; null is here. */
      meetings: z.string().nullable(),
      /** What those who run it have to say to everybody; null where that is nothing. */
      notice: z.string().nullable(),
    }),
  }),
  cancelStream: operation({
    summary: 'Ends a sequence that is told over this connection. Nothing of it comes after the ack.',
    socket: '* stream:cancel',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    whileSuspended: 'reads',
    input: z.object({ stream: z.string().max(64) }),
    output: z.object({}),
  }),
  becomeModerator: operation({
    summary: 'In the demo, from this very machine: makes the caller a moderator of the rooms of the demo.',
    http: 'POST /api/demo/moderator',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    repeat: 'harmless',
    input: z.object({}),
    output: Done,
    errors: ['NOT_FOUND'],
  }),
}
