/** Names that others see, which the server judges by what they claim; `test/hostile/claims.test.ts` tries each. */
export const judgedNames = [
  'accounts.updateProfile.display_name',
  'accounts.updateProfile.status_text',
  'agents.create.name',
  'agents.create.tags[]',
  'agents.update.name',
  'agents.update.tags[]',
  'booking.createShareable.title',
  'booking.schedule.guestName',
  'booking.schedule.schedulerName',
  'booking.schedule.title',
  'meetings.create.title',
  'meetings.token.displayName',
  'messages.directReact.emoji',
  'messages.react.emoji',
  'rooms.createChannel.category',
  'rooms.createChannel.name',
  'rooms.createGroup.name',
  'rooms.createLocationRoom.name',
  'rooms.createTokenRoom.name',
  'rooms.update.category',
  'rooms.update.name',
  'scheduling.configure.scheduling_title',
  'streams.change.title',
  'streams.create.title',
] as const

export type JudgedName = (typeof judgedNames)[number]
