import { z } from 'zod'
import { Address, CallerAddress, count, maybe, repeatable } from '#shared/kit/primitives'
import { Category, Description, Emoji, HttpsUrl, Name, Slug } from './room-fields.ts'

/** The id of an event, or of a collection of events, at the provider of attendance tokens. */
export const AttendanceId = count(1, 2_147_483_647)
/** Becomes part of a name; what cannot be is left out of it. */
const GivenName = z.string().max(1_000).optional()
/** What is no image on the web is left out, as the provider's own is taken where it has one. */
const GivenImage = z
  .string()
  .max(2_000)
  .meta({ format: 'uri' })
  .nullish()
  .transform((given) => (HttpsUrl.safeParse(given).success ? given : null))
  .optional()

/** What a new channel is made of. One that belongs to an event or a collection has other defaults, and needs no name. */
export const NewChannel = z
  .object({
    ...repeatable,
    name: Name.optional(),
    description: Description.nullish(),
    emoji: Emoji.optional(),
    category: Category.optional(),
    slug: Slug.nullish(),
    messagingType: z
      .enum(['standard', 'p2p', 'waku'], { error: 'Invalid messaging type' })
      .meta({
        description:
          'Channels of attendance tokens are p2p, whatever is said; of others `p2p` is refused, and `waku`, which is the same.',
      })
      .optional(),
    isOfficial: maybe(z.boolean()).meta({
      description: 'Who moderates everywhere moderates it. For admins; a channel of attendance tokens is none.',
    }),
    accessLevel: maybe(z.enum(['public', 'staff'])).meta({
      description:
        'Of `staff` all admins and global moderators are members, and nobody else sees it. For admins; it is official, and has no slug.',
    }),
    creatorAddress: CallerAddress,
    userAddress: CallerAddress,
    ownerAddress: maybe(Address).meta({
      description: 'The caller alone: nobody owns a channel who has not founded it.',
    }),
    attendanceEventId: AttendanceId.optional(),
    attendanceEventName: GivenName,
    attendanceImageUrl: GivenImage,
    attendanceCollectionId: AttendanceId.optional(),
    attendanceCollectionName: GivenName,
    attendanceCollectionImageUrl: GivenImage,
    // The same, in other words.
    poapEventId: AttendanceId.optional(),
    poapEventName: GivenName,
    poapImageUrl: GivenImage,
    poapCollectionId: AttendanceId.optional(),
    poapCollectionName: GivenName,
    poapCollectionImageUrl: GivenImage,
  })
  .overwrite(
    ({
      poapEventId,
      poapEventName,
      poapImageUrl,
      poapCollectionId,
      poapCollectionName,
      poapCollectionImageUrl,
      ...given
    }) => ({
      ...given,
      attendanceEventId: given.attendanceEventId ?? poapEventId,
      attendanceEventName: given.attendanceEventName ?? poapEventName,
      attendanceImageUrl: given.attendanceImageUrl ?? poapImageUrl,
      attendanceCollectionId: given.attendanceCollectionId ?? poapCollectionId,
      attendanceCollectionName: given.attendanceCollectionName ?? poapCollectionName,
      attendanceCollectionImageUrl: given.attendanceCollectionImageUrl ?? poapCollectionImageUrl,
    }),
  )
  .check(({ value, issues }) => {
    const { attendanceEventId: event, attendanceCollectionId: collection, name, messagingType } = value
    const refuse = (path: string, message: string) =>
      void issues.push({ code: 'custom', message, input: value, path: [path] })
    if (event !== undefined && collection !== undefined)
      refuse('attendanceCollectionId', 'attendanceEventId or attendanceCollectionId, not both of them')
    if (event !== undefined || collection !== undefined) {
      if (value.isOfficial) refuse('isOfficial', 'a channel of attendance tokens is not official')
      if (value.accessLevel === 'staff') refuse('accessLevel', 'a channel of attendance tokens is not of the staff')
      return
    }
    if (value.accessLevel === 'staff' && value.slug) refuse('slug', 'a channel of the staff has none')
    if (name === undefined) refuse('name', 'name is required')
    if (messagingType === 'p2p' || messagingType === 'waku') refuse('messagingType', 'Invalid messaging type')
  })
