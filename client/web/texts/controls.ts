import { textCatalog } from './catalog.ts'

/** Texts of several folders, which the first screen does without. */
export const controlTexts = textCatalog('controls', {
  backToRooms: 'Back to the rooms',
  remove: 'Remove',
  showMore: 'Show more',
  status: 'Status: {words}',
  copy: 'Copy',
  apart: 'Picture in picture',
  whole: 'Full screen',
  leaveWhole: 'Leave full screen',
  copied: {
    link: 'Link copied.',
    secret: 'Secret copied.',
  },
  notCopied: 'This browser does not allow copying. Copy the text from its field.',
  position: {
    unsupported: 'This browser does not know your location.',
    refused: 'Location access was denied. Allow it in the settings of your browser.',
    unknown: 'Your location could not be found.',
    slow: 'Finding your location took too long.',
  },
})
