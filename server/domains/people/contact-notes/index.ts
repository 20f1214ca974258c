import { accountOf } from '#server/domains/people/accounts/accounts'
import { audiences, type Context, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { contactNoteChanged, contactNotes as contract } from '#shared/api/people/contact-notes'
import { AppError } from '#shared/errors'
import { type ContactNote, ContactNotes } from './model.ts'

/** Simultaneous writes may exceed it slightly. */
const notesAtMost = 2_000
const none = { notes: null, updatedAt: null }

/** The id of a note begins with the caller's account, so only its author can load it. */
const idOf = (author: string, subject: string) => `${author} ${subject}`

export const contactNotes = defineDomain(contract, {
  async read(input, context) {
    const note = await ContactNotes.findOne({
      _id: idOf(signedIn(context).account, subjectOf(input)),
    }).lean<ContactNote>()
    return note ? { notes: note.notes, updatedAt: note.updated_at } : none
  },

  async write(input, context) {
    const { account } = signedIn(context)
    const subject = subjectOf(input)
    const notes = input.notes?.trim() ?? ''
    const note = notes === '' ? await deleteNote(account, subject) : await storeNote(context, account, subject, notes)
    context.emit(contactNoteChanged, audiences.account(account), { subject_address: subject, ...note })
    return note
  },
})

const subjectOf = ({ subject, targetAddress }: { subject?: string | undefined; targetAddress?: string | undefined }) =>
  subject ?? targetAddress ?? ''

async function deleteNote(author: string, subject: string): Promise<typeof none> {
  await ContactNotes.deleteOne({ _id: idOf(author, subject) })
  return none
}

async function storeNote({ node }: Context, author: string, subject: string, notes: string) {
  const _id = idOf(author, subject)
  const updated_at = new Date(node.now()).toISOString()
  const { matchedCount } = await ContactNotes.updateOne({ _id }, { $set: { notes, updated_at } })
  if (matchedCount === 0) {
    if (!(await accountOf(subject))) throw new AppError('USER_NOT_FOUND')
    if ((await ContactNotes.countDocuments({ viewer_address: author })) >= notesAtMost)
      throw new AppError('CONFLICT', { message: `You have ${notesAtMost} notes. Take one away first.` })
    const about = { viewer_address: author, subject_address: subject }
    await ContactNotes.updateOne({ _id }, { $set: { notes, updated_at }, $setOnInsert: about }, { upsert: true })
  }
  return { notes, updatedAt: updated_at }
}
