const roles = ['owner', 'admin', 'moderator', 'member'] as const

interface Candidate {
  user_address: string
  role: (typeof roles)[number]
  joined_at: string
}

/** Orders members by succession: moderators before members, and the earliest first. */
export const inSuccession = (one: Candidate, other: Candidate): number =>
  roles.indexOf(one.role) - roles.indexOf(other.role) ||
  (one.joined_at < other.joined_at ? -1 : Number(one.joined_at > other.joined_at)) ||
  (one.user_address < other.user_address ? -1 : 1)

/** What somebody is who has handed a room over: the role below. */
export const roleBelow = { owner: 'admin', admin: 'moderator' } as const
