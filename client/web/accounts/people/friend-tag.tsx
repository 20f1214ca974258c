import { type CSSProperties, type FormEvent, useEffect, useState } from 'react'
import { friendTagChanged, type FriendTag as Tag, tagLength } from '#shared/api/people/profile-theme'
import { isSameAccount } from '#shared/kit/accounts'
import { useClient } from '../../connection/client.ts'
import { isolated } from '../../kit/format.ts'
import { Problem } from '../../kit/notice.tsx'
import { useLoaded } from '../../kit/use-loaded.ts'
import { peopleTexts as t } from '../../texts/people.ts'
import styles from './friend-tag.module.css'

const colors = ['#c0392b', '#d9902b', '#1c7a4c', '#1f6fb2', '#7a4fb5', '#6b6f76'] as const
const { red, amber, green, blue, violet, grey } = t.colors
const colorNames = [red, amber, green, blue, violet, grey] as const

/** What the account has put on a friend, for itself alone; nothing where the two are no friends. */
export function FriendTag({ address }: { address: string }) {
  const client = useClient()
  const [isEdited, setEdited] = useState(false)
  const loaded = useLoaded(address, async () => {
    const [{ friends }, { tags }] = await Promise.all([client.friends.list({}), client.friends.tags({})])
    const isFriend = friends.some(({ friend_address }) => isSameAccount(friend_address, address))
    return { isFriend, tag: tags.find(({ friend_address }) => isSameAccount(friend_address, address)) ?? null }
  })
  const { value, change } = loaded
  useEffect(
    () =>
      client.on(friendTagChanged, ({ friend_address, tag }) => {
        if (isSameAccount(friend_address, address)) change((before) => ({ ...before, tag }))
      }),
    [client, address, change],
  )
  if (!value) return <Problem error={loaded.error} onRetry={loaded.reload} />
  if (!value.isFriend) return null
  const { tag } = value
  if (isEdited)
    return (
      <TagForm
        address={address}
        stored={tag}
        onSaved={(next) => {
          change((before) => ({ ...before, tag: next }))
          setEdited(false)
        }}
        onCancel={() => setEdited(false)}
      />
    )
  return (
    <div className="row">
      {tag && <TagChip tag={tag} />}
      <button type="button" className="button small plain" onClick={() => setEdited(true)}>
        {tag ? t.tag.change : t.tag.add}
      </button>
    </div>
  )
}

/** A tag as its owner sees it. */
export const TagChip = ({ tag: { tag, emoji, color } }: { tag: Tag }) => (
  <span className={`chip ${styles.friendTag}`} style={color ? ({ '--tag': color } as CSSProperties) : undefined}>
    {emoji && <span aria-hidden={tag !== null}>{emoji}</span>}
    {tag && isolated(tag)}
  </span>
)

function TagForm(props: {
  address: string
  stored: Tag | null
  onSaved: (tag: Tag | null) => void
  onCancel: () => void
}) {
  const client = useClient()
  const { address, stored, onSaved, onCancel } = props
  const [tag, setTag] = useState(stored?.tag ?? '')
  const [emoji, setEmoji] = useState(stored?.emoji ?? '')
  const [color, setColor] = useState(stored?.color ?? '')
  const [problem, setProblem] = useState<unknown>(null)
  const [isBusy, setBusy] = useState(false)
  const put = async (given: { tag: string; emoji: string; color: string }) => {
    if (isBusy) return
    setBusy(true)
    try {
      const { tag: next } = await client.friends.tag({ friendAddress: address, ...given })
      return onSaved(next)
    } catch (cause) {
      setProblem(cause)
    }
    setBusy(false)
  }
  const save = (event: FormEvent) => {
    event.preventDefault()
    void put({ tag, emoji: emoji.trim(), color })
  }
  const choices = [...new Set<string>([...colors, ...(stored?.color ? [stored.color] : [])])]
  return (
    <form className="stack" aria-label={t.tag.title} onSubmit={save}>
      <div className="row">
        <label className="field emoji-field">
          <span>{t.tag.emoji}</span>
          <input dir="auto" className="input" value={emoji} onChange={({ target }) => setEmoji(target.value)} />
        </label>
        <label className="field grow">
          <span>{t.tag.title}</span>
          <input
            dir="auto"
            className="input"
            maxLength={tagLength * 2}
            value={tag}
            onChange={({ target }) => setTag(target.value)}
          />
        </label>
      </div>
      <fieldset className={`row wrap ${styles.friendColors}`}>
        <legend className="label">{t.tag.color}</legend>
        {['', ...choices].map((one, at) => (
          <label key={one} title={colorNames[at - 1] ?? (one || t.tag.noColor)}>
            <input
              type="radio"
              name="friend-tag-color"
              aria-label={colorNames[at - 1] ?? (one || t.tag.noColor)}
              checked={color === one}
              onChange={() => setColor(one)}
            />
            <i style={{ '--tag': one || 'transparent' } as CSSProperties} />
          </label>
        ))}
      </fieldset>
      <p className="hint">{t.tag.hint({ count: tagLength })}</p>
      <Problem error={problem} />
      <div className="row end">
        {stored && (
          <button
            type="button"
            className="button small risky"
            onClick={() => void put({ tag: '', emoji: '', color: '' })}
          >
            {t.tag.remove}
          </button>
        )}
        <button type="button" className="button small" onClick={onCancel}>
          {t.tag.cancel}
        </button>
        <button type="submit" className="button main small" aria-disabled={isBusy || undefined}>
          {t.tag.save}
        </button>
      </div>
    </form>
  )
}
