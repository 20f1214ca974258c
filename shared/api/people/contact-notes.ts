import { z } from 'zod'
import { event, operation } from '#shared/kit/contract'
import { Address, CallerAddress, Time, text } from '#shared/kit/primitives'

/** Code points of one note. */
export const noteLength = 2_000

/** Whom the note is about: by either name. */
const about = { userAddress: CallerAddress, targetAddress: Address.optional(), subject: Address.optional() }
type About = { targetAddress?: string | undefined; subject?: string | undefined }

const namesOne = ({ targetAddress, subject }: About) =>
  (subject ?? targetAddress) !== undefined && (subject ?? targetAddress) === (targetAddress ?? subject)
const nobody = { error: 'Name one person, by targetAddress or subject', path: ['targetAddress'] }

/** `updatedAt` is null where there is no note. */
const Note = z.object({ notes: z.string().nullable(), updatedAt: Time.nullable() })

export const contactNotes = {
  read: operation({
    summary: 'What the caller has noted about somebody; nobody else is ever told.',
    http: 'GET /api/user/contact-notes',
    socket: '/notifications contact-note:read',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    input: z.object(about).refine(namesOne, nobody),
    output: Note,
  }),
  write: operation({
    summary:
      'Note something about somebody, for the caller alone; the last write stays. An empty note, or null, takes it away.',
    http: 'PUT /api/user/contact-notes',
    socket: '/notifications contact-note:write',
    access: 'user',
    limit: 'general',
    cost: 'cheap',
    errorBody: 'text',
    whileSuspended: 'protects',
    input: z.object({ ...about, notes: text(noteLength, 'notes is required').nullable() }).refine(namesOne, nobody),
    output: Note,
    errors: ['USER_NOT_FOUND'],
  }),
}

export const contactNoteChanged = event('/notifications contact-note:changed', {
  summary: 'You have changed your note about somebody, on this device or another.',
  audience: 'account',
  payload: Note.extend({ subject_address: z.string() }),
})
export const contactNoteEvents = { contactNoteChanged }
