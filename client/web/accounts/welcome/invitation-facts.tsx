import { useClient } from '../../connection/client.ts'
import { isolated, nameOf } from '../../kit/format.ts'
import { Problem } from '../../kit/notice.tsx'
import '../../kit/refusals.ts'
import { useLoaded } from '../../kit/use-loaded.ts'
import { welcomeTexts as t } from '../../texts/welcome.ts'

/** The room of an invitation and who invites, for a visitor who may sign in to join. */
export function InvitationFacts({ token }: { token: string }) {
  const client = useClient()
  const { value, error, isLoading } = useLoaded(token, () => client.invitations.read({ token }))
  if (!value)
    return (
      <>
        <h1>{isLoading ? '\u00a0' : t.pitch}</h1>
        <Problem error={error} />
      </>
    )
  const { room, invited_by } = value
  return (
    <>
      <h1>{isolated(room.name)}</h1>
      <p>{t.invited({ name: nameOf(invited_by.name, invited_by.id) })}</p>
      <p className="hint">{t.room.members({ count: room.member_count })}</p>
      <p>{t.room.join}</p>
    </>
  )
}
