import type { TextTranslation } from '../catalog.ts'
import type { deviceTexts as english } from '../devices.ts'

export const deviceTexts: TextTranslation<typeof english> = {
  microphone: 'Micrófono',
  camera: 'Cámara',
  speaker: 'Altavoz',
  title: 'Elegir dispositivos',
  hint: 'Este navegador recuerda tu elección.',
  standard: 'Dispositivo predeterminado',
  unnamed: 'Dispositivo {number}',
  level: 'Nivel del micrófono',
  share: 'Compartir la pantalla',
  stopSharing: 'Dejar de compartir la pantalla',
  replaced: {
    audio: 'Se desconectó tu micrófono. Ahora se usa {name}.',
    video: 'Se desconectó tu cámara. Ahora se usa {name}.',
  },
  speakerGone: 'Se desconectó tu altavoz. Ahora se usa el predeterminado.',
  mutedByHost: 'El anfitrión te ha silenciado. Puedes volver a activar tu micrófono.',
  problems: {
    insecure: 'Este navegador solo permite la cámara en una dirección con https.',
    notAllowed: 'Tu navegador lo bloquea. Permítelo para esta página y vuelve a activarlo.',
    notFound: 'No se encontró ninguna cámara ni micrófono. Aun así puedes ver y escuchar.',
    inUse: 'Otro programa está usando la cámara o el micrófono.',
    notOpened: 'No se pudieron abrir la cámara ni el micrófono.',
  },
}
