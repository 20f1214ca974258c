import { updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
import { ownAgent } from '#server/domains/agents/agent-state/access'
import { updateAgent } from '#server/domains/agents/agents/owned'
import { setPictureStore } from '#server/domains/media/files/copies'
import { removePicture } from '#server/domains/media/files/removal'
import { publicFolder, storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { changeProfile } from '#server/domains/people/accounts/profile-changes'
import { keyOf } from '#server/domains/rooms/room-state/access'
import { signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import { uploads as contract } from '#shared/api/media/uploads'
import { done } from '#shared/kit/primitives'
import { storeBugReport } from './bug-reports.ts'
import { fileCommitment, storeEncrypted } from './encrypted.ts'
import { storeEvidence } from './evidence.ts'
import { storeAnyFile } from './files.ts'
import { isPlainPicture, refuseLargeIcon, storeMedia, storePicture } from './pictures.ts'
import { storePixelArt } from './pixel-art.ts'
import { changeRoomIcon, refuseIconChange } from './room-icons.ts'
import { uploadSettings } from './settings.ts'
import { startSweeps, uploadsSweep } from './sweep.ts'

export const uploads = defineDomain(
  contract,
  {
    async image(input, context) {
      const { file, originalType } = input
      const stored = (await isPlainPicture(input))
        ? await storePicture(context, publicFolder('chat'), file)
        : await storeEncrypted(context, storageFolders.image, input)
      return { ...stored, originalType }
    },
    async voice(input, context) {
      return { ...(await storeEncrypted(context, storageFolders.voice, input)), duration: input.duration }
    },
    file: storeAnyFile,
    commitment: fileCommitment,
    picture: ({ file, context: shown }, context) => storeMedia(context, publicFolder(shown), file),
    pixelArt: storePixelArt,
    bugReport: storeBugReport,
    evidence: storeEvidence,

    async avatar({ file }, context) {
      const { url: avatar_url } = await storePicture(context, storageFolders.avatar, file)
      const change = { custom_avatar_url: avatar_url, use_custom_avatar: true }
      await changeProfile(context.node, signedIn(context).account, change)
      return { ...done, avatar_url }
    },

    async agentAvatar({ id, file }, context) {
      const { node } = context
      const { account } = signedIn(context)
      const before = await ownAgent(node, account, id)
      const { url: avatar_url } = await storePicture(context, storageFolders.avatar, file)
      await updateAgentProfile(node, await updateAgent(node, account, id, { avatarUrl: avatar_url }))
      await removePicture(node, before.avatar_url)
      return { ...done, avatar_url }
    },

    async icon({ room, file }, context) {
      const { account } = signedIn(context)
      refuseLargeIcon(file)
      const key = await keyOf(room)
      await refuseIconChange(context.node, key, account)
      const { url: icon_url } = await storePicture(context, storageFolders.icon, file)
      await changeRoomIcon(context.node, key, account, icon_url)
      return { ...done, icon_url }
    },

    async removeIcon({ room }, context) {
      await changeRoomIcon(context.node, await keyOf(room), signedIn(context).account, null)
      return done
    },
  },
  {
    settings: uploadSettings,
    jobs: [uploadsSweep],
    start(node) {
      setPictureStore(node, storePicture)
      return [startSweeps(node)]
    },
  },
)
