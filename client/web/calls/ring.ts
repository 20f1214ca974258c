import type { Client } from '#client/sdk/types'
import type { Call } from '#shared/api/meetings/calls'
import { linkTo } from '#shared/kit/pages'
import { isolated, nameOf } from '../kit/format.ts'
import { callTexts as t } from '../texts/calls.ts'

/** The parameter by which the page of a meeting knows the call that led there. */
const parameter = 'call'
/** Where a call was made or answered, until the window is closed. */
const originKey = 'plaza.call-origin'

function openMeeting(code: string, call: string): void {
  sessionStorage.setItem(originKey, location.pathname)
  location.assign(`${linkTo('meeting', { code })}?${parameter}=${call}`)
}

export const callOfPage = (): string | null => new URLSearchParams(location.search).get(parameter)

/** Where a call leads back to; null where this window made none. */
export const originOfCall = (): string | null => sessionStorage.getItem(originKey)

/** Opens a meeting for two, rings somebody to it, and goes there. Throws if they are in another meeting. */
export async function ringUp(client: Client, calleeAddress: string, callType: Call['call_type']): Promise<void> {
  const { room } = await client.meetings.create({ title: t.callMeeting, maxParticipants: 2 })
  try {
    const ringing = { callType, status: 'ringing', channelName: room.joinCode } as const
    const { call } = await client.calls.start({ calleeAddress, ...ringing })
    if (call.status !== 'ringing') throw new Error(t.busy({ name: calleeNameOf(call) }))
    openMeeting(room.joinCode, call.id)
  } catch (error) {
    await client.meetings.end({ code: room.joinCode }).catch(() => {})
    throw error
  }
}

const calleeNameOf = ({ callee }: Call): string => isolated(nameOf(callee, callee.address))

export async function answer(client: Client, callId: string, code: string): Promise<void> {
  await client.calls.change({ callId, status: 'active' })
  openMeeting(code, callId)
}
