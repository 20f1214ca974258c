import { useClient } from '../../connection/client.ts'
import { Avatar } from '../../kit/avatar.tsx'
import { nameOf } from '../../kit/format.ts'
import { PictureField } from '../../media/picture-field.tsx'
import { useStoredPicture } from '../../media/stored.ts'
import { settingTexts as t } from '../../texts/settings.ts'
import { useSession } from '../session.ts'

/** The picture of this account. */
export function OwnPicture() {
  const client = useClient()
  const { account, user, status, reload } = useSession()
  const picture = useStoredPicture(user.avatar_url)
  const name = nameOf(user.display_name ?? user.username, account)
  if (!status?.media) return null
  const remove = () => client.accounts.updateProfile({ custom_avatar_url: null, use_custom_avatar: false }).then(reload)
  return (
    <PictureField
      title={t.profile.picture}
      shown={<Avatar id={account} name={name} size="large" picture={picture} />}
      onStore={(file) => client.uploads.avatar({ file }).then(reload)}
      onRemove={picture === null ? undefined : remove}
    />
  )
}
