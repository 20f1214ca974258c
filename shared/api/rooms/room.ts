import { z } from 'zod'
import { longestTopic } from '#shared/kit/lengths'
import { EmojiOfName, Link, nameLine, RoomType, Time, text } from '#shared/kit/primitives'
import { Gate } from './gates.ts'

export const RoomKey = z.object({ type: RoomType, id: z.string().nullable() })
const memberRoles = ['owner', 'admin', 'moderator', 'member'] as const
export const MemberRole = z.enum(memberRoles)
export type MemberRole = z.infer<typeof MemberRole>

export const Person = z.object({
  id: z.string(),
  name: z.string(),
  role: z.string().nullable(),
  isAgent: z.boolean(),
})
export type Person = z.infer<typeof Person>
/** The same of protocol 2: a `role` of `member` and `isAgent: false` are left out. */
export const LeanPerson = Person.partial({ role: true, isAgent: true })
export type LeanPerson = z.infer<typeof LeanPerson>

/** The event, or the collection of events, whose tokens let people into a channel; null for every other room. */
const attendanceFields = {
  attendance_event_id: z.number().int().nullable(),
  attendance_event_name: z.string().nullable(),
  attendance_image_url: Link.nullable(),
  attendance_collection_id: z.number().int().nullable(),
  attendance_collection_name: z.string().nullable(),
  attendance_collection_image_url: Link.nullable(),
}
export const AttendanceFields = z.object(attendanceFields)
export type AttendanceFields = z.infer<typeof AttendanceFields>

/** The row of a room, as every list and look-up shows it. Documents 1 and 3, channel record. */
export const Room = z.object({
  id: z.string(),
  type: RoomType,
  name: z.string(),
  description: z.string().nullable(),
  /** What is talked about at present. */
  topic: z.string().nullable(),
  emoji: z.string(),
  icon_url: Link.nullable(),
  slug: z.string().nullable(),
  category: z.string(),
  creator_address: z.string().nullable(),
  owner_address: z.string().nullable(),
  is_official: z.boolean(),
  access_level: z.enum(['public', 'staff']),
  messaging_type: z.enum(['standard', 'p2p']),
  /** The condition for new members; null without one. */
  gate: Gate.nullable(),
  /** The content topic of a p2p room's messages; null in others. */
  p2p_content_topic: z.string().nullable(),
  ...attendanceFields,
  member_count: z.number().int(),
  message_count: z.number().int(),
  is_active: z.boolean(),
  is_member: z.boolean(),
  created_at: Time,
  updated_at: Time,
})
export type Room = z.infer<typeof Room>

/** The newest message of a room, as lists show it. */
export const LastMessage = z.object({
  sender_address: z.string(),
  /** Null where the preview shows nothing of theirs: a message that was deleted, or of somebody the caller has blocked. */
  sender_name: z.string().nullable(),
  /** At most 50 characters, in words: without Markdown, and media by their name. */
  preview: z.string(),
  created_at: Time,
})
export type LastMessage = z.infer<typeof LastMessage>

export const RoomSummary = Room.extend({
  role: MemberRole.nullable(),
  head_seq: z.number().int(),
  read_seq: z.number().int(),
  unread: z.number().int(),
  mentions: z.number().int(),
  muted_until: Time.nullable(),
  is_muted: z.boolean(),
  /** The other person of a dm. */
  peer: Person.nullable(),
  last_message: LastMessage.nullable(),
})
export type RoomSummary = z.infer<typeof RoomSummary>

export const Member = z.object({
  user_address: z.string(),
  joined_at: Time,
  role: MemberRole,
  username: z.string().nullable(),
  display_name: z.string().nullable(),
  avatar: z.string().nullable(),
  name: z.string(),
  online: z.boolean(),
})
export type Member = z.infer<typeof Member>

/** What somebody may write about a room. */
export const Name = nameLine(1, 100, 'name is required')
export const Emoji = EmojiOfName
export const Category = nameLine(1, 40)
export const Slug = z
  .string()
  .regex(/^(?![0-9a-f]{8}-[0-9a-f]{4}-)[a-z0-9](?:[a-z0-9-]{0,48}[a-z0-9])?$/, { error: 'Invalid slug' })
export const HttpsUrl = z.url({ protocol: /^https$/ }).max(2_000)
export const Description = text(500)
/** Empty: none. */
export const Topic = nameLine(0, longestTopic)
  .nullable()
  .transform((topic) => topic || null)
