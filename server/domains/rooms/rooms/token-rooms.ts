import { createHash } from 'node:crypto'
import { withCopiedPictures } from '#server/domains/media/files/copies'
import { refuseOthersFile } from '#server/domains/media/files/others'
import { storageFolders } from '#server/domains/moderation/verdict/storage-folders'
import { membershipsOf } from '#server/domains/rooms/room-state/membership'
import { Rooms } from '#server/domains/rooms/room-state/model'
import { firstOpenRooms, roomAnswer, rowsOf } from '#server/domains/rooms/room-state/rows'
import { standingOf } from '#server/domains/rooms/room-state/standing'
import { containsWords, searchWords, termOf } from '#server/domains/rooms/room-state/terms'
import { tokenAt } from '#server/domains/rooms/tokens/metadata'
import { type Action, signedIn } from '#server/kernel/context'
import { GLOBAL } from '#server/log/types'
import type { rooms as contract } from '#shared/api/rooms/rooms'
import { tokenChatOf } from '#shared/api/rooms/token-chat'
import { AppError } from '#shared/errors'
import { foundedBy } from '#shared/kit/room-kinds'
import { foundRoom } from './founding.ts'

const listedAtMost = 50
const lookedAtMost = 1_000
const type = foundedBy('createTokenRoom')

export const createTokenRoom: Action<typeof contract.createTokenRoom> = async (input, context) => {
  const { account } = signedIn(context)
  const { node, creationId } = context
  const { name, description = null, emoji, tokenAddress, tokenChainId, minBalance, tokenImage = null } = input
  const is_official = input.isOfficial === true
  if (is_official && !(await node.log.ask(GLOBAL, (view) => standingOf(view, account).isAdmin)))
    throw new AppError('FORBIDDEN', { message: 'Only admins may found official rooms' })
  await refuseOthersFile(node, account, tokenImage, 'tokenImage')
  const { tokenImage: icon_url } = await withCopiedPictures(context, storageFolders.icon, { tokenImage }, [
    'tokenImage',
  ])
  const token = await tokenAt(node, tokenChainId, tokenAddress)
  const gate = {
    ...{ by: 'balance' as const, chain_id: tokenChainId, token_address: tokenAddress, token_name: token.name },
    ...{ token_symbol: token.symbol, token_decimals: token.decimals, min_balance: String(BigInt(minBalance)) },
  }
  const id = `tc_${createHash('sha256').update(creationId).digest('hex').slice(0, 16)}`
  const key = await foundRoom(context, type, { name, description, emoji, icon_url, is_official, gate }, [], id)
  return { room: await roomAnswer(node, key, account) }
}

export const listTokenRooms: Action<typeof contract.listTokenRooms> = async (
  { tokenAddress, chainId, search, mode },
  { node, caller },
) => {
  const { account } = caller
  if (mode === 'my' && account === null) throw new AppError('UNAUTHORIZED')
  const words = search === undefined ? [] : searchWords(search)
  if (search !== undefined && words.length === 0) return { chats: [] }
  const filter = {
    ...{ type, is_active: true, access_level: 'public' },
    ...(mode === 'my' && account !== null ? { _id: { $in: await membershipsOf(account) } } : {}),
    ...(tokenAddress ? { 'gate.token_address': tokenAddress } : {}),
    ...(chainId ? { 'gate.chain_id': chainId } : {}),
    ...(words.length > 0 ? { $and: words.map((word) => ({ terms: termOf(word) })) } : {}),
  }
  const read = (skip: number, most: number) =>
    Rooms.find(filter).sort({ member_count: -1, _id: 1 }).skip(skip).limit(most).lean()
  const most = words.length > 0 ? lookedAtMost : listedAtMost
  const matching = await (account === null ? firstOpenRooms(most, read, lookedAtMost) : read(0, most))
  const found = matching.filter(({ name, description }) => containsWords(`${name} ${description ?? ''}`, words))
  const keys = found.slice(0, listedAtMost).map(({ _id }) => _id)
  return { chats: (await rowsOf(node, keys, account)).map(tokenChatOf) }
}
