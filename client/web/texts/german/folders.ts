import type { TextTranslation } from '../catalog.ts'
import type { folderTexts as english } from '../folders.ts'

export const folderTexts: TextTranslation<typeof english> = {
  title: 'Ordner',
  move: 'In Ordner verschieben',
  empty: 'Ein Ordner ist ein Tab über deinen Räumen. Nur du siehst ihn.',
  list: 'Deine Ordner',
  edit: 'Bearbeiten',
  editOf: '{name} bearbeiten',
  editAll: 'Ordner bearbeiten',
  delete: 'Löschen',
  new: 'Neuer Ordner',
  create: 'Ordner erstellen',
  save: 'Speichern',
  emoji: 'Emoji',
  name: 'Name',
  nameExample: 'Arbeit',
  all: 'Alle',
  pinnedAtMost:
    '{count, plural, one {Du kannst # Chat anpinnen.} other {Du kannst bis zu # Chats anpinnen.}} Löse vorher einen anderen.',
}
