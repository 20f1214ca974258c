import { textCatalog } from './catalog.ts'

/** The microphone, the camera, the speaker and the screen of who is in a meeting or live. */
export const deviceTexts = textCatalog('devices', {
  microphone: 'Microphone',
  camera: 'Camera',
  speaker: 'Speaker',
  title: 'Choose devices',
  hint: 'This browser remembers your choice.',
  standard: 'Standard device',
  unnamed: 'Device {number}',
  level: 'Microphone level',
  share: 'Share the screen',
  stopSharing: 'Stop sharing the screen',
  /** A device was unplugged, and another one is taken. */
  replaced: {
    audio: 'Your microphone was unplugged. {name} is in use now.',
    video: 'Your camera was unplugged. {name} is in use now.',
  },
  speakerGone: 'Your speaker was unplugged. The standard one is in use now.',
  mutedByHost: 'The host has muted you. You can turn your microphone on again.',
  /** Why a microphone or a camera is not on. */
  problems: {
    insecure: 'This browser allows a camera only at an address with https.',
    notAllowed: 'Your browser blocks it. Allow it for this page, then turn it on again.',
    notFound: 'No camera or microphone was found. You can still watch and listen.',
    inUse: 'The camera or the microphone is in use by another program.',
    notOpened: 'The camera and the microphone could not be opened.',
  },
})
