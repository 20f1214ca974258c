import { describe, expect, test } from 'vitest'
import { mayTouch, type Standing, standingOf } from '#server/domains/rooms/room-state/standing'
import { type Fact, GLOBAL, type View } from '#server/log/types'

const who = '0x00000000000000000000000000000000000000aa'
const other = '0x00000000000000000000000000000000000000bb'

function viewOf(room: string, facts: Record<string, Fact>, everywhere: Record<string, Fact> = {}): View {
  const at = { epoch: 'e', seq: 1, total: 0, at: 0, ageOf: () => 0 }
  const view = { ...at, room: GLOBAL, get: (key: string) => everywhere[key] ?? null }
  const global: View = Object.assign(view, { global: view as unknown as View })
  return room === GLOBAL ? global : { ...at, room, global, get: (key) => facts[key] ?? null }
}

const member = (role: string): Record<string, Fact> => ({
  [`member:${who}`]: { user_address: who, role, joined_at: '' },
})
const grant = (more: Record<string, boolean> = {}): Record<string, Fact> => ({
  [`moderator:${who}`]: {
    can_pin: true,
    can_delete: true,
    can_mute: true,
    can_manage_mods: false,
    granted_seq: 1,
    ...more,
  },
})
/** As versions before this one stored it. */
const older = (granted_at: string, more: Record<string, boolean> = {}): Record<string, Fact> => {
  const { granted_seq: _, ...fields } = grant(more)[`moderator:${who}`] as Record<string, Fact>
  return { [`moderator:${who}`]: { ...fields, granted_at } }
}
const since = (joined_at: string): Record<string, Fact> => ({
  [`member:${who}`]: { user_address: who, role: 'member', joined_at },
})
const left = (more: Record<string, boolean>): Record<string, Fact> => ({
  [`moderator:${who}`]: { ...(grant(more)[`moderator:${who}`] as object), granted_seq: null },
})
const site = (role: string): Record<string, Fact> => ({ [`role:${who}`]: role })
const official: Record<string, Fact> = { room: { is_official: true } }
const ofStaff: Record<string, Fact> = { room: { is_official: true, access_level: 'staff' } }
const ofStaffAlone: Record<string, Fact> = { room: { is_official: false, access_level: 'staff' } }

/** Pins, deletes, mutes, manages: what somebody may do, in one word. */
const mayOf = ({ canPin, canDelete, canMute, canManageMods }: Standing) =>
  [canPin && 'pin', canDelete && 'delete', canMute && 'mute', canManageMods && 'manage'].filter(Boolean).join(' ') ||
  'nothing'

const all = 'pin delete mute manage'
const most = 'pin delete mute'
const all4 = { can_manage_mods: true }
const none = { can_pin: false, can_delete: false, can_mute: false }

describe('what somebody is in a room follows from the highest thing they are', () => {
  test.each([
    ['a stranger', 'channel:x', {}, {}, null, 'nothing'],
    ['a member', 'channel:x', member('member'), {}, 'member', 'nothing'],
    ['a member of that rank', 'channel:x', member('moderator'), {}, 'moderator', most],
    ['the owner', 'channel:x', member('owner'), {}, 'owner', all],
    ['a room admin', 'channel:x', member('admin'), {}, 'admin', all],
    ['the admin of a group', 'group:x', member('admin'), {}, 'admin', all],
    ['a granted moderator', 'channel:x', grant(), {}, 'moderator', most],
    ['one who may manage too', 'channel:x', grant(all4), {}, 'moderator', all],
    ['one who may do nothing', 'channel:x', grant(none), {}, 'moderator', 'nothing'],
    [
      'one whose grant says less than the rank',
      'channel:x',
      { ...member('moderator'), ...grant(none) },
      {},
      'moderator',
      'nothing',
    ],
    ['an owner with a small grant', 'channel:x', { ...member('owner'), ...grant(none) }, {}, 'owner', all],
    ['a global moderator in a room of somebody', 'channel:x', member('member'), grant(all4), 'member', 'nothing'],
    ['a global moderator in an official room', 'channel:x', official, grant(all4), 'moderator', all],
    ['a global moderator in alpha', 'alpha', {}, grant(), 'moderator', most],
    ['a global moderator in a group', 'group:x', {}, grant(all4), null, 'nothing'],
    [
      'a grant here before the global one',
      'channel:x',
      { ...official, ...grant(none) },
      grant(all4),
      'moderator',
      'nothing',
    ],
    ['one with an older grant who has gone', 'channel:x', older('2'), {}, null, 'nothing'],
    ['one with an older grant who stayed', 'channel:x', { ...older('2'), ...since('1') }, {}, 'moderator', most],
    ['one with an older grant who came back', 'channel:x', { ...older('2'), ...since('3') }, {}, 'member', 'nothing'],
    ['one with an older grant everywhere', 'alpha', since('3'), older('2'), 'moderator', most],
    [
      'a global moderator who went with a limit',
      'alpha',
      left({ can_mute: false }),
      grant(all4),
      'moderator',
      'pin delete',
    ],
    ['and who went with a right beside it', 'alpha', left(all4), grant({ can_pin: false }), 'moderator', 'delete mute'],
    ['one who left no more than a limit', 'alpha', left(all4), {}, null, 'nothing'],
    ['a global moderator with no room named', GLOBAL, {}, grant(), 'moderator', most],
    [
      'a member of the staff who moderates everywhere',
      'channel:x',
      { ...ofStaff, ...member('member') },
      grant(),
      'moderator',
      most,
    ],
    ['an admin in a room of the staff', 'channel:x', ofStaff, site('admin'), 'admin', all],
    ['who is of the staff no more', 'channel:x', { ...ofStaff, ...member('owner') }, {}, null, 'nothing'],
    [
      'and was granted more there',
      'channel:x',
      { ...ofStaff, ...member('member'), ...grant(all4) },
      {},
      null,
      'nothing',
    ],
    [
      'a global moderator in a room of admins',
      'channel:x',
      { ...ofStaffAlone, ...member('admin') },
      grant(all4),
      null,
      'nothing',
    ],
    ['an admin', 'channel:x', {}, site('admin'), 'admin', all],
    ['an admin who owns the room', 'channel:x', member('owner'), site('admin'), 'admin', all],
    ['a super admin', 'channel:x', {}, site('super_admin'), 'super_admin', all],
    ['an admin in a direct message of others', 'dm:0xa~0xb', {}, site('super_admin'), null, 'nothing'],
    ['one of the two of a direct message', `dm:${who}~${other}`, {}, {}, 'member', 'nothing'],
  ] as const)('%s', (_title, room, here, everywhere, role, may) => {
    const standing = standingOf(viewOf(room, here, everywhere), who)
    expect([standing.role, mayOf(standing)]).toEqual([role, may])
  })
})

describe('the ladder', () => {
  const ladder = {
    member: standingOf(viewOf('channel:x', member('member')), who),
    moderator: standingOf(viewOf('channel:x', grant()), who),
    manager: standingOf(viewOf('channel:x', grant(all4)), who),
    admin: standingOf(viewOf('channel:x', member('admin')), who),
    owner: standingOf(viewOf('channel:x', member('owner')), who),
    siteAdmin: standingOf(viewOf('channel:x', {}, site('admin')), who),
    superAdmin: standingOf(viewOf('channel:x', {}, site('super_admin')), who),
  }
  type Rung = keyof typeof ladder

  test.each([
    ['member', []],
    ['moderator', ['member']],
    ['manager', ['member', 'moderator', 'manager']],
    ['admin', ['member', 'moderator', 'manager']],
    ['owner', ['member', 'moderator', 'manager', 'admin']],
    ['siteAdmin', ['member', 'moderator', 'manager', 'admin', 'owner']],
    ['superAdmin', ['member', 'moderator', 'manager', 'admin', 'owner', 'siteAdmin']],
  ] as const satisfies readonly (readonly [Rung, readonly Rung[]])[])('%s reaches %j', (rung, reached) => {
    const within = Object.entries(ladder).filter(([, standing]) => mayTouch(ladder[rung], standing))
    expect(within.map(([name]) => name)).toEqual(reached)
  })
})
