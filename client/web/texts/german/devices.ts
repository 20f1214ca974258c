import type { TextTranslation } from '../catalog.ts'
import type { deviceTexts as english } from '../devices.ts'

export const deviceTexts: TextTranslation<typeof english> = {
  microphone: 'Mikrofon',
  camera: 'Kamera',
  speaker: 'Lautsprecher',
  title: 'Geräte wählen',
  hint: 'Dieser Browser merkt sich deine Wahl.',
  standard: 'Standardgerät',
  unnamed: 'Gerät {number}',
  level: 'Mikrofonpegel',
  share: 'Bildschirm teilen',
  stopSharing: 'Bildschirm nicht mehr teilen',
  replaced: {
    audio: 'Dein Mikrofon wurde getrennt. Jetzt wird {name} verwendet.',
    video: 'Deine Kamera wurde getrennt. Jetzt wird {name} verwendet.',
  },
  speakerGone: 'Dein Lautsprecher wurde getrennt. Jetzt wird das Standardgerät verwendet.',
  mutedByHost: 'Der Gastgeber hat dich stummgeschaltet. Du kannst dein Mikrofon wieder einschalten.',
  problems: {
    insecure: 'Dieser Browser erlaubt eine Kamera nur unter einer Adresse mit https.',
    notAllowed: 'Dein Browser blockiert das. Erlaube es für diese Seite und schalte es wieder ein.',
    notFound: 'Keine Kamera und kein Mikrofon gefunden. Du kannst trotzdem zusehen und zuhören.',
    inUse: 'Die Kamera oder das Mikrofon wird von einem anderen Programm verwendet.',
    notOpened: 'Kamera und Mikrofon konnten nicht geöffnet werden.',
  },
}
