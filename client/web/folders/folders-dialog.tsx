import { useState } from 'react'
import type { ChatFolder } from '#shared/api/rooms/chat-folders'
import type { RoomRef } from '#shared/kit/primitives'
import { useClient } from '../connection/client.ts'
import { ConfirmButton } from '../kit/confirm-button.tsx'
import { Dialog } from '../kit/dialog.tsx'
import { isolated } from '../kit/format.ts'
import { Icon } from '../kit/icon.tsx'
import { MakeForm } from '../kit/make-form.tsx'
import { Listed } from '../kit/notice.tsx'
import { useAttempt } from '../kit/toasts.tsx'
import { confirmationTexts } from '../texts/confirmations.ts'
import { folderTexts as t } from '../texts/sidebar.ts'
import styles from './folders.module.css'
import { isAmong, useFolders, withFolder, without } from './use-folders.ts'

/** The folders of the account, to be made, changed and removed; with a room, also which of them it is in. */
export function FoldersDialog({ room, onClose }: { room: RoomRef | null; onClose: () => void }) {
  const { value, ...loaded } = useFolders()
  return (
    <Dialog title={room ? t.move : t.title} onClose={onClose}>
      <div className="stack wide">
        <Listed loaded={{ ...loaded, value: value?.folders ?? null }} empty={<p className="hint">{t.empty}</p>}>
          {(folders) => (
            <ul className={styles.folderList} aria-label={t.list}>
              {folders.map((folder) => (
                <FolderRow key={folder.id} folder={folder} room={room} />
              ))}
            </ul>
          )}
        </Listed>
        <FolderForm room={room} />
      </div>
    </Dialog>
  )
}

function FolderRow({ folder, room }: { folder: ChatFolder; room: RoomRef | null }) {
  const client = useClient()
  const attempt = useAttempt()
  const { change } = useFolders()
  const [isChanging, setChanging] = useState(false)
  const { id, chats, emoji } = folder
  const label = isolated(folder.label)
  if (isChanging)
    return (
      <li>
        <FolderForm folder={folder} room={null} onDone={() => setChanging(false)} />
      </li>
    )
  const put = async (into: RoomRef, isIn: boolean) => {
    const { folders } = await client.chatFolders.list({})
    const others = without(folders.find((one) => one.id === id)?.chats ?? [], into)
    const { folder: next } = await client.chatFolders.setChats({ id, chats: isIn ? [...others, into] : others })
    change(withFolder(id, next))
  }
  const remove = async () => {
    await client.chatFolders.remove({ id })
    change(withFolder(id, null))
  }
  const named = (
    <span className={styles.folderLabel}>
      {emoji && <span aria-hidden="true">{emoji} </span>}
      {label}
    </span>
  )
  return (
    <li className="row">
      {room ? (
        <label className="check grow">
          <input
            type="checkbox"
            checked={isAmong(chats, room)}
            onChange={({ target: { checked } }) => attempt(() => put(room, checked))}
          />
          {named}
        </label>
      ) : (
        <span className="grow">{named}</span>
      )}
      <button
        type="button"
        className="icon-button small"
        aria-label={t.editOf({ name: label })}
        title={t.edit}
        onClick={() => setChanging(true)}
      >
        <Icon name="pencil" />
      </button>
      <ConfirmButton title={t.delete} question={confirmationTexts.folder} of={label} onConfirm={remove} />
    </li>
  )
}

/** Changes a folder, or makes one and puts the room into it. */
function FolderForm(props: { folder?: ChatFolder; room: RoomRef | null; onDone?: () => void }) {
  const { folder, room, onDone } = props
  const client = useClient()
  const { change } = useFolders()
  const [label, setLabel] = useState(folder?.label ?? '')
  const [emoji, setEmoji] = useState(folder?.emoji ?? '')
  const keep = (kept: ChatFolder) => change(withFolder(kept.id, kept))
  const save = async () => {
    const given = { label, emoji: emoji.trim() }
    if (folder) {
      keep((await client.chatFolders.update({ id: folder.id, ...given })).folder)
      return onDone?.()
    }
    const made = (await client.chatFolders.create(given)).folder
    keep(made)
    setLabel('')
    setEmoji('')
    if (room) keep((await client.chatFolders.setChats({ id: made.id, chats: [room] })).folder)
  }
  return (
    <MakeForm
      label={folder ? t.editOf({ name: isolated(folder.label) }) : t.new}
      action={folder ? t.save : t.create}
      onMake={save}
    >
      <div className="row">
        <label className="field emoji-field">
          <span>{t.emoji}</span>
          <input
            dir="auto"
            className="input"
            placeholder="💼"
            value={emoji}
            onChange={({ target }) => setEmoji(target.value)}
          />
        </label>
        <label className="field grow">
          <span>{t.name}</span>
          <input
            dir="auto"
            className="input"
            placeholder={t.nameExample}
            required
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
        </label>
      </div>
    </MakeForm>
  )
}
