import { textCatalog } from './catalog.ts'

/** Texts of several folders. */
export const kitTexts = textCatalog('kit', {
  backToRooms: 'Back to the rooms',
  remove: 'Remove',
  showMore: 'Show more',
  status: 'Status: {words}',
  today: 'Today',
  yesterday: 'Yesterday',
})
