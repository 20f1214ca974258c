import { adminTexts } from './admin.ts'
import { agentChatTexts, agentListTexts } from './agent-chat.ts'
import { agentEditorTexts } from './agent-editor.ts'
import { bookedCallTexts, bookingTexts } from './booked-calls.ts'
import { bookingHourTexts } from './booking-hours.ts'
import { callTexts, meetingTexts } from './calls.ts'
import { confirmationTexts } from './confirmations.ts'
import { controlTexts } from './controls.ts'
import { deviceTexts } from './devices.ts'
import { directTexts } from './direct.ts'
import { kitTexts } from './kit.ts'
import { mediaTexts } from './media.ts'
import { messageTexts } from './messages.ts'
import { moderationTexts } from './moderation.ts'
import { connectionTexts, pageTexts } from './pages.ts'
import { friendTexts, peopleTexts } from './people.ts'
import { priceTexts } from './prices.ts'
import { profileEditorTexts } from './profile-editor.ts'
import { profileTexts } from './profiles.ts'
import { roomSettingTexts, webhookTexts } from './room-settings.ts'
import { gatedRoomTexts, newRoomTexts, roomTexts } from './rooms.ts'
import { deleteAccountTexts, pointTexts, settingTexts } from './settings.ts'
import { folderTexts, sidebarTexts, switcherTexts } from './sidebar.ts'
import { outerProblemTexts, signInTexts } from './sign-in.ts'
import { starTexts } from './stars.ts'
import { streamTexts } from './streams.ts'
import { supportTexts } from './support.ts'
import { tourTexts } from './tour.ts'
import { refusalTexts, valueTexts } from './values.ts'
import { walletTexts } from './wallet.ts'
import { welcomeTexts } from './welcome.ts'

export const spanishTexts = {
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
  refusals: refusalTexts,
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
