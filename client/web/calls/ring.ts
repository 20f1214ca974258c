import type { Client } from '#client/sdk/types'
import { linkTo } from '#shared/kit/pages'
import { callTexts } from '../texts/calls.ts'

/** The parameter by which the page of a meeting knows the call that led there. */
const parameter = 'call'

const openMeeting = (code: string, call: string) =>
  location.assign(`${linkTo('meeting', { code })}?${parameter}=${call}`)

export const callOfPage = (): string | null => new URLSearchParams(location.search).get(parameter)

/** Opens a meeting for two, rings somebody to it, and goes there. */
export async function ringUp(client: Client, calleeAddress: string): Promise<void> {
  const { room } = await client.meetings.create({ title: callTexts.callMeeting, maxParticipants: 2 })
  const ringing = { callType: 'video', status: 'ringing', channelName: room.joinCode } as const
  const { call } = await client.calls.start({ calleeAddress, ...ringing }).catch(async (error: unknown) => {
    await client.meetings.end({ code: room.joinCode }).catch(() => {})
    throw error
  })
  openMeeting(room.joinCode, call.id)
}

export async function answer(client: Client, callId: string, code: string): Promise<void> {
  await client.calls.change({ callId, status: 'active' })
  openMeeting(code, callId)
}
