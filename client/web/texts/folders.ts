import { textCatalog } from './catalog.ts'

export const folderTexts = textCatalog('folders', {
  title: 'Folders',
  move: 'Move to folder',
  empty: 'A folder is a tab above your rooms. Only you can see it.',
  list: 'Your folders',
  edit: 'Edit',
  editOf: 'Edit {name}',
  editAll: 'Edit folders',
  delete: 'Delete',
  new: 'New folder',
  create: 'Create folder',
  save: 'Save',
  emoji: 'Emoji',
  name: 'Name',
  nameExample: 'Work',
  all: 'All',
  pinnedAtMost: '{count, plural, one {You can pin # chat.} other {You can pin up to # chats.}} Unpin one first.',
})
