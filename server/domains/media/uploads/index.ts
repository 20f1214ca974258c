import { createHash } from 'node:crypto'
import { base32nopad } from '@scure/base'
import { updateAgentProfile } from '#server/domains/agents/agent-rooms/memberships'
import { ownAgent } from '#server/domains/agents/agent-state/access'
import { updateAgent } from '#server/domains/agents/agents/owned'
import { setPictureStore } from '#server/domains/media/files/copies'
import { removePicture, removingFiles } from '#server/domains/media/files/removal'
import { publicFolder, storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { changeProfile } from '#server/domains/people/accounts/profile-changes'
import { actingRoom, keyOf } from '#server/domains/rooms/room-state/access'
import { roomUpdated } from '#server/domains/rooms/room-state/events/rooms'
import { refuseLockedIcon, refuseMuted } from '#server/domains/rooms/room-state/judge-draft'
import { actorOf, entryOf } from '#server/domains/rooms/room-state/standing'
import { type Action, type Context, type Node, signedIn } from '#server/kernel/context'
import { defineDomain } from '#server/kernel/domain'
import type { Judgement, View } from '#server/log/types'
import type { FileKind } from '#server/ports/reader/port'
import { uploads as contract, pixelArtMegabytes } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { cleanFileName, fileTypeOf, namePart } from '#shared/kit/file-name'
import { done } from '#shared/kit/primitives'
import { fileCommitment, storeEncrypted, storeEvidence, withCleanFile } from './encrypted.ts'
import { purgedFiles } from './purged-files.ts'
import { uploadSettings } from './settings.ts'
import { startSweeps, storageOf, storeFile, type UploadFolder, uploadsSweep } from './store.ts'

const largestIcon = 2 * 1024 * 1024

const pictures = 'JPEG, PNG, GIF or WebP image'
const withVoice = `${pictures}, nor a voice message (WebM, Ogg or MP4, as browsers record it)`

/** Stores a public picture without its metadata. */
const storePicture = (context: Context, place: UploadFolder, file: Blob, allowed = pictures) =>
  storeCleaned(context, place, file, ['picture'], allowed)

const pictureHeads = ['\xff\xd8\xff', '\x89PNG\r\n\x1a\n', 'GIF87a', 'GIF89a']

/** Older SDKs send pictures unsealed. The first bytes tell: a sealed file begins with random ones. */
async function isPlainPicture({ file, commitment }: { file: Blob; commitment?: string | undefined }) {
  const head = Buffer.from(await file.slice(0, 12).arrayBuffer()).toString('latin1')
  const isWebp = head.startsWith('RIFF') && head.endsWith('WEBP')
  return commitment === undefined && (isWebp || pictureHeads.some((one) => head.startsWith(one)))
}

/** Stores a picture or a voice message, which the first bytes tell apart. */
const storeMedia = (context: Context, place: UploadFolder, file: Blob) =>
  storeCleaned(context, place, file, ['picture', 'sound'], withVoice)

async function storeCleaned(
  context: Context,
  place: UploadFolder,
  file: Blob,
  kinds: readonly FileKind[],
  allowed: string,
): Promise<{ url: string; path: string }> {
  storageOf(context.node)
  return withCleanFile(context, { file, kinds, refusal: `file: not a ${allowed}` }, ({ ending, bytes }) =>
    storeFile(context, place, { ending, blob: new Blob([bytes]) }),
  )
}

/** The form parser does not measure the base64 bytes of a JSON body. */
function refuseLargeIcon({ size }: Blob): void {
  if (size > largestIcon) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: at most 2 MB' })
}

const allowed = 'JPEG, PNG, GIF or WebP image, nor an MP4, WebM or QuickTime film'
const largestImage = 10 * 1024 * 1024

/** Stores a picture or film of a fault; a film stays as it is. */
const storeBugReport: Action<typeof contract.bugReport> = async ({ file }, context) => {
  storageOf(context.node)
  const ending = filmOf(await file.slice(0, 64).arrayBuffer())
  if (ending !== null)
    return { ...(await storeFile(context, storageFolders.bugReport, { ending, blob: file })), type: 'video' }
  if (file.size > largestImage) throw new AppError('PAYLOAD_TOO_LARGE', { message: 'file: an image has at most 10 MB' })
  return { ...(await storePicture(context, storageFolders.bugReport, file, allowed)), type: 'image' }
}

/** The kind of film by its first bytes: MPEG-4, QuickTime or WebM. */
function filmOf(head: ArrayBuffer): 'mp4' | 'mov' | 'webm' | null {
  const begin = Buffer.from(head).toString('latin1')
  if (begin.startsWith('\x1a\x45\xdf\xa3')) return begin.includes('webm') ? 'webm' : null
  const [box, brand] = [begin.slice(4, 8), begin.slice(8, 12)]
  if (box === 'ftyp') return brand === 'qt  ' ? 'mov' : isFilm.test(brand) ? 'mp4' : null
  return ['moov', 'mdat', 'wide'].includes(box) && begin.charCodeAt(0) <= lengthOfMost ? 'mov' : null
}

/** A box begins with its length; this is the first byte for 64 MB, and no character. */
const lengthOfMost = 3
/** Brands of films; others name pictures (AVIF, HEIC) and sound. */
const isFilm = /^(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|3g[gp2-9]\d?)/

/** Formats that a page shows, by their first bytes: ending, bytes. The order decides. */
const shown = [
  ['png', /^\x89PNG\r\n/],
  ['jpg', /^\xff\xd8\xff/],
  ['gif', /^GIF8[79]a/],
  ['webp', /^RIFF.{4}WEBP/s],
  ['avif', /^.{4}ftypavi[fs]/s],
  ['heic', /^.{4}ftyp(hei[cx]|mif1)/s],
  ['m4a', /^.{4}ftypM4[AB] /s],
  ['mov', /^.{4}ftypqt {2}/s],
  ['mp4', /^.{4}ftyp(isom|iso[2-9]|mp4[12]|avc1|dash|M4V |MSNV|3g[gp2-9])/s],
  ['webm', /^.E\xdf\xa3.{0,40}webm/s],
  ['ogg', /^OggS/],
  ['mp3', /^(ID3|\xff[\xf2\xf3\xfa\xfb])/],
  ['wav', /^RIFF.{4}WAVE/s],
  ['flac', /^fLaC/],
  ['pdf', /^%PDF-/],
] as const

/** The ending of a file by its first bytes; `bin` for what is only downloaded. */
export const endingOf = (head: string): string => shown.find(([, begins]) => begins.test(head))?.[0] ?? 'bin'

/** Programs of Windows, Linux, macOS, Java and Android, shortcuts of Windows, and scripts with an interpreter. */
const programHeads = [
  ...['MZ', '\x7fELF', '\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'],
  ...['\xca\xfe\xba\xbe', '\xca\xfe\xba\xbf', 'dex\n', 'L\0\0\0\x01\x14\x02\0', '#!'],
]
export const isProgram = (head: string): boolean => programHeads.some((one) => head.startsWith(one))

/** Endings of what a system runs, installs or mounts when it is opened. Windows runs `js`, without a browser. */
const programEndings = new Set(
  [
    'exe dll com scr pif cpl sys ocx xll msi msp mst msu msix msixbundle appx appxbundle application appref-ms gadget',
    'bat cmd ps1 psm1 psd1 vb vbs vbe js jse ws wsf wsc wsh sct hta msc chm reg inf scf lnk url library-ms search-ms',
    'settingcontent-ms diagcab iso img vhd vhdx app pkg mpkg dmg command tool terminal workflow scpt fileloc inetloc',
    'webloc desktop run appimage deb rpm snap flatpakref jar jnlp apk xapk aab',
  ].flatMap((line) => line.split(' ')),
)
export const isProgramName = (name: string): boolean =>
  programEndings.has(name.slice(name.lastIndexOf('.') + 1).toLowerCase())

const headBytes = 64
const leastSealedBytes = 28

/** Stores a file of any type as it is. Only its bytes determine the type that it is served with. */
const storeAnyFile: Action<typeof contract.file> = async (input, context) => {
  const { file, conversationId } = input
  storageOf(context.node)
  const name = cleanFileName(input.name)
  const { takesPrograms } = uploadSettings.of(context.node)
  const head = Buffer.from(await file.slice(0, headBytes).arrayBuffer()).toString('latin1')
  // The bytes of a sealed file tell nothing, but its name does.
  const isRefused = isProgramName(name) || (conversationId === undefined && isProgram(head))
  if (isRefused && !takesPrograms)
    throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: `Programs cannot be sent here (${name})` })
  const { url, path } =
    conversationId === undefined
      ? await storeFile(context, storageFolders.file, { ending: `${namePart(name)}.${endingOf(head)}`, blob: file })
      : await storeSealed(context, input)
  return { url, path, name, size: file.size, mime: fileTypeOf(path) }
}

/** A sealed file is stored where sealed pictures are: the server cannot tell them apart. */
function storeSealed(context: Context, input: Parameters<typeof storeEncrypted>[2]) {
  if (input.file.size < leastSealedBytes)
    throw new AppError('VALIDATION_ERROR', { message: 'file: not an encrypted file' })
  return storeEncrypted(context, storageFolders.image, input)
}

const refusal = 'imageData: not a PNG'
const beginning = /^data:[\w.+/-]{0,100};base64,/

/** Stores pixel art under the hash of its bytes, and pins it in IPFS where that is configured. */
const storePixelArt: Action<typeof contract.pixelArt> = async ({ imageData }, context: Context) => {
  storageOf(context.node)
  const bytes = bytesIn(imageData)
  if (bytes.length > pixelArtMegabytes * 1024 * 1024)
    throw new AppError('PAYLOAD_TOO_LARGE', { message: `imageData: at most ${pixelArtMegabytes} MB` })
  const given = { file: new Blob([bytes]), kinds: ['picture'] as const, refusal }
  const { name, blob, url, path } = await withCleanFile(context, given, async (picture) => {
    if (picture.ending !== 'png') throw new AppError('UNSUPPORTED_MEDIA_TYPE', { message: refusal })
    const [name, blob] = [cidOf(picture.bytes), new Blob([picture.bytes], { type: 'image/png' })]
    return { name, blob, ...(await storeFile(context, storageFolders.pixelArt, { name, ending: 'png', blob })) }
  })
  const { pinning } = context.node.services
  const ipfsHash = pinning === null ? name : await pinning.pin(`${name}.png`, blob)
  return { success: true as const, ipfsHash, ipfsUrl: url, path, alternativeUrls: pinning?.urlsOf(ipfsHash) ?? [] }
}

/** The bytes of a data URL. A pattern over the whole text would overflow the stack. */
function bytesIn(dataUrl: string): Buffer<ArrayBuffer> {
  const given = dataUrl.slice(beginning.exec(dataUrl)?.[0].length ?? dataUrl.length)
  const bytes = Buffer.from(given, 'base64')
  if (given === '' || bytes.toString('base64') !== given)
    throw new AppError('VALIDATION_ERROR', { message: 'imageData: not a PNG data URL' })
  return bytes
}

/** CID version 1, raw codec, SHA-256, its length. */
const prefix = [0x01, 0x55, 0x12, 0x20]

/** The hash (CID) of bytes as one block, as IPFS computes it. */
export const cidOf = (bytes: Uint8Array): string =>
  `b${base32nopad.encode(new Uint8Array([...prefix, ...createHash('sha256').update(bytes).digest()])).toLowerCase()}`

/** Refuses a caller who may not change the icon, before anything is stored. */
const refuseIconChange = (node: Node, key: string, account: string): Promise<void> =>
  node.log.ask(key, (view, now) => void roomWithIcon(view, account, now))

function roomWithIcon(view: View, account: string, now: number) {
  const { room, standing } = actingRoom(view, account, now)
  if (!standing.isModerator)
    throw new AppError('FORBIDDEN', { message: 'Only the owner and moderators may change the icon' })
  refuseLockedIcon(room)
  refuseMuted(view, account, now)
  if (!room.is_active) throw new AppError('ROOM_ARCHIVED')
  return room
}

/** Changes the icon of a room, or removes it (null). The owner and moderators may. */
async function changeRoomIcon(node: Node, key: string, account: string, icon_url: string | null): Promise<void> {
  const actor = await actorOf(node, account)
  let before: string | null = null
  await node.log.act(key, {
    sender: account,
    makes: roomUpdated,
    judge(view, now): Judgement<null> {
      before = roomWithIcon(view, account, now).icon_url
      if (before === icon_url) return { already: null }
      const patch = { icon_url, updated_at: new Date(now).toISOString() }
      return { accept: entryOf(view, actor, roomUpdated, { patch }) }
    },
  })
  await removePicture(node, before)
}

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
    jobs: [uploadsSweep, removingFiles],
    routes: (node) => (node.services.storage ? [purgedFiles(node)] : []),
    start(node) {
      setPictureStore(node, storePicture)
      return [startSweeps(node)]
    },
  },
)
