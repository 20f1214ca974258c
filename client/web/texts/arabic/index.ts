import { adminTexts } from './admin.ts'
import { agentChatTexts } from './agent-chat.ts'
import { agentEditorTexts } from './agent-editor.ts'
import { agentListTexts } from './agent-list.ts'
import { bookedCallTexts } from './booked-calls.ts'
import { bookingTexts } from './booking.ts'
import { bookingHourTexts } from './booking-hours.ts'
import { callTexts } from './calls.ts'
import { confirmationTexts } from './confirmations.ts'
import { connectionTexts } from './connection.ts'
import { controlTexts } from './controls.ts'
import { deleteAccountTexts } from './delete-account.ts'
import { deviceTexts } from './devices.ts'
import { directTexts } from './direct.ts'
import { folderTexts } from './folders.ts'
import { friendTexts } from './friends.ts'
import { gatedRoomTexts } from './gated-rooms.ts'
import { kitTexts } from './kit.ts'
import { mediaTexts } from './media.ts'
import { meetingTexts } from './meetings.ts'
import { messageTexts } from './messages.ts'
import { moderationTexts } from './moderation.ts'
import { newRoomTexts } from './new-room.ts'
import { outerProblemTexts } from './outer-problems.ts'
import { pageTexts } from './pages.ts'
import { peopleTexts } from './people.ts'
import { pointTexts } from './points.ts'
import { priceTexts } from './prices.ts'
import { profileEditorTexts } from './profile-editor.ts'
import { profileTexts } from './profiles.ts'
import { roomSettingTexts } from './room-settings.ts'
import { roomTexts } from './rooms.ts'
import { settingTexts } from './settings.ts'
import { sidebarTexts } from './sidebar.ts'
import { signInTexts } from './sign-in.ts'
import { starTexts } from './stars.ts'
import { streamTexts } from './streams.ts'
import { supportTexts } from './support.ts'
import { switcherTexts } from './switcher.ts'
import { tourTexts } from './tour.ts'
import { valueTexts } from './values.ts'
import { walletTexts } from './wallet.ts'
import { webhookTexts } from './webhooks.ts'
import { welcomeTexts } from './welcome.ts'

export const arabicTexts = {
  admin: adminTexts,
  'booking-hours': bookingHourTexts,
  calls: callTexts,
  confirmations: confirmationTexts,
  connection: connectionTexts,
  controls: controlTexts,
  'delete-account': deleteAccountTexts,
  devices: deviceTexts,
  direct: directTexts,
  folders: folderTexts,
  friends: friendTexts,
  'gated-rooms': gatedRoomTexts,
  kit: kitTexts,
  media: mediaTexts,
  messages: messageTexts,
  moderation: moderationTexts,
  'new-room': newRoomTexts,
  'outer-problems': outerProblemTexts,
  pages: pageTexts,
  people: peopleTexts,
  points: pointTexts,
  'room-settings': roomSettingTexts,
  rooms: roomTexts,
  settings: settingTexts,
  sidebar: sidebarTexts,
  'sign-in': signInTexts,
  stars: starTexts,
  support: supportTexts,
  switcher: switcherTexts,
  tour: tourTexts,
  wallet: walletTexts,
  webhooks: webhookTexts,
  welcome: welcomeTexts,
  values: valueTexts,
  streams: streamTexts,
  'agent-list': agentListTexts,
  'booked-calls': bookedCallTexts,
  booking: bookingTexts,
  prices: priceTexts,
  profiles: profileTexts,
  'profile-editor': profileEditorTexts,
  meetings: meetingTexts,
  'agent-chat': agentChatTexts,
  'agent-editor': agentEditorTexts,
}
