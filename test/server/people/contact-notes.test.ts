// Modes: embedded
import { beforeEach, describe, expect, test } from 'vitest'
import { ContactNotes } from '#server/domains/people/contact-notes/model'
import { contactNoteChanged, contactNotes, noteLength } from '#shared/api/people/contact-notes'
import { friends } from '#shared/api/people/friends'
import { bootWith } from '#test/support/boot-with'
import { befriend, over, type Person, people, person, staysSilent } from '#test/support/people'
import { wallet } from '#test/support/wallet'

const path = '/api/user/contact-notes'
const none = { notes: null, updatedAt: null }
let one: Person
let two: Person
let round = 0

const { server } = await bootWith([])
beforeEach(async () => {
  round += 1
  ;[one, two] = await people(server, `noting ${round}`, `noted ${round}`)
})

const read = (who: Person, subject: string) => who.does('rest', contactNotes.read, { subject })
const write = (who: Person, subject: string, notes: string | null) =>
  who.does('rest', contactNotes.write, { subject, notes })

describe('contact notes', () => {
  test.each(over)('over %s: what is written is read again, replaced, and taken away by an empty one', async (door) => {
    const subject = two.account
    expect(await one.does(door, contactNotes.read, { subject })).toEqual(none)
    const written = await one.does(door, contactNotes.write, { subject, notes: ' From\nBerlin\n' })
    expect(written).toEqual({ notes: 'From\nBerlin', updatedAt: expect.any(String) })
    expect(await one.does(door, contactNotes.read, { subject })).toEqual(written)
    await one.does(door, contactNotes.write, { subject, notes: 'From Rome' })
    expect((await one.does(door, contactNotes.read, { subject })).notes).toBe('From Rome')
    for (const empty of ['', ' \n', null]) {
      await one.does(door, contactNotes.write, { subject, notes: 'Once more' })
      expect(await one.does(door, contactNotes.write, { subject, notes: empty })).toEqual(none)
      expect(await one.does(door, contactNotes.read, { subject })).toEqual(none)
    }
    expect(await ContactNotes.countDocuments({ viewer_address: one.account })).toBe(0)
  })

  test('the documented names of both people are taken as well', async () => {
    const named = { userAddress: one.account, targetAddress: two.account.toUpperCase().replace('0X', '0x') }
    const { status, body } = await one.rest(`PUT ${path}`, { ...named, notes: 'Kind' })
    expect({ status, body }).toMatchObject({ status: 200, body: { notes: 'Kind' } })
    const asked = `GET ${path}?userAddress=${one.account}&targetAddress=${two.account}`
    expect((await one.rest(asked)).body).toMatchObject({ notes: 'Kind' })
    expect(await read(one, two.account)).toMatchObject({ notes: 'Kind' })
  })

  test.each(over)(
    'over %s: nobody else reads, writes or finds a note: 403 for another, before any look-up',
    async (door) => {
      await write(one, two.account, 'Owes me a book')
      expect(await read(two, one.account)).toEqual(none)
      expect(await read(two, two.account)).toEqual(none)
      for (const subject of [two.account, wallet('nobody at all').address]) {
        const asked = { userAddress: one.account, subject }
        expect(await two.refused(door, contactNotes.read, asked)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
        const changed = { ...asked, notes: 'Forged' }
        expect(await two.refused(door, contactNotes.write, changed)).toMatchObject({ status: 403, code: 'FORBIDDEN' })
      }
      expect((await read(one, two.account)).notes).toBe('Owes me a book')
    },
  )

  test('without a session there is none to read', async () => {
    const answer = await fetch(`${server.url}${path}?userAddress=${one.account}&targetAddress=${two.account}`)
    expect({ status: answer.status, body: await answer.json() }).toMatchObject({ status: 401 })
  })

  test.each(over)('over %s: a note is about one account that is there, and bounded', async (door) => {
    const about = (input: object) => one.refused(door, contactNotes.write, { notes: 'x', ...input } as never)
    expect(await about({})).toMatchObject({ status: 400 })
    expect(await about({ subject: two.account, targetAddress: one.account })).toMatchObject({ status: 400 })
    expect(await about({ subject: two.account, notes: 'x'.repeat(noteLength + 1) })).toMatchObject({ status: 400 })
    expect(await about({ subject: two.account, notes: undefined })).toMatchObject({ status: 400 })
    expect(await about({ subject: two.account, notes: { $ne: null } })).toMatchObject({ status: 400 })
    expect(await about({ subject: wallet('nobody at all').address })).toMatchObject({ code: 'USER_NOT_FOUND' })
    expect(await one.refused(door, contactNotes.read, {})).toMatchObject({ status: 400 })
    expect((await write(one, two.account, '📚'.repeat(noteLength))).notes).toBe('📚'.repeat(noteLength))
  })

  test('an account keeps 2,000 notes; those that are there can still be changed', async () => {
    await write(one, two.account, 'First')
    const rows = Array.from({ length: 1_999 }, (_, at) => {
      const subject_address = `stranger:${at}`
      const _id = `${one.account} ${subject_address}`
      return { _id, viewer_address: one.account, subject_address, notes: 'x', updated_at: new Date(0).toISOString() }
    })
    await ContactNotes.insertMany(rows)
    expect(await one.refused('rest', contactNotes.write, { subject: one.account, notes: 'x' })).toMatchObject({
      code: 'CONFLICT',
    })
    expect((await write(one, two.account, 'Second')).notes).toBe('Second')
  })

  test('a note outlives the friendship and a block', async () => {
    await befriend(one, two)
    await write(one, two.account, 'Met in Lisbon')
    await two.does('rest', friends.removeByAddress, { friendAddress: one.account })
    await two.rest('POST /api/users/block', { userAddress: one.account })
    expect((await read(one, two.account)).notes).toBe('Met in Lisbon')
  })

  test('every device of its author is told of it, wherever it is connected, and nobody else', async () => {
    const other = await person(server, `noting ${round}`)
    const mine = [await one.socket('/notifications'), await other.socket('/notifications')]
    const theirs = await two.socket('/notifications')
    await write(one, two.account, 'Sings')
    for (const line of mine)
      expect(await line.hears(contactNoteChanged)).toMatchObject({ subject_address: two.account, notes: 'Sings' })
    await write(one, two.account, '')
    for (const line of mine) await line.hears(contactNoteChanged, ({ notes }) => notes === null)
    await staysSilent(theirs, contactNoteChanged)
  })

  test('of many writes at once one whole note stays', async () => {
    const texts = Array.from({ length: 50 }, (_, at) => `Note ${at}`)
    await Promise.all(texts.map((notes) => write(one, two.account, notes)))
    expect(texts).toContain((await read(one, two.account)).notes)
    expect(await ContactNotes.countDocuments({ viewer_address: one.account })).toBe(1)
  })
})
