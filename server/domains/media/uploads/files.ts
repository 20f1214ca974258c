import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import type { Action, Context } from '#server/kernel/context'
import type { uploads as contract } from '#shared/api/media/uploads'
import { AppError } from '#shared/errors'
import { cleanFileName, namePart } from '#shared/kit/file-name'
import { fileTypeOf } from '#shared/kit/file-type'
import { storeEncrypted } from './encrypted.ts'
import { endingOf, isProgram, isProgramName } from './file-types.ts'
import { uploadSettings } from './settings.ts'
import { storageOf, storeFile } from './store.ts'

const headBytes = 64
const leastSealedBytes = 28

/** Stores a file of any type as it is. Only its bytes determine the type that it is served with. */
export const storeAnyFile: Action<typeof contract.file> = async (input, context) => {
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
