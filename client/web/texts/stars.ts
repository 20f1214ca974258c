import { textCatalog } from './catalog.ts'

export const starTexts = textCatalog('stars', {
  title: 'Starred messages',
  empty: 'No starred messages',
  emptyHint: 'Star a message from its menu to find it here. Only you can see your stars.',
  sealed: 'Open the conversation to read this message',
  remove: 'Remove star',
})
