import type { TextTranslation } from '../catalog.ts'
import type { outerProblemTexts as english } from '../outer-problems.ts'

export const outerProblemTexts: TextTranslation<typeof english> = {
  devices: {
    NotAllowedError: 'Tu dispositivo no respondió o cerraste su ventana. No se cambió nada.',
    AbortError: 'Tu dispositivo no respondió o cerraste su ventana. No se cambió nada.',
    InvalidStateError: 'Este dispositivo ya tiene una llave de acceso para esta cuenta.',
    NotSupportedError: 'Este dispositivo no admite estas llaves de acceso.',
    SecurityError: 'Las llaves de acceso no funcionan en esta dirección del sitio.',
  },
  wallets: {
    declined: 'La billetera rechazó la solicitud. No se firmó nada.',
    notAllowed: 'Tu billetera bloquea este sitio. Permítelo allí e inténtalo de nuevo.',
    unsupported: 'Esta billetera no puede firmar mensajes.',
    disconnected: 'Tu billetera no está conectada. Ábrela e inténtalo de nuevo.',
    pending: 'Tu billetera tiene una solicitud abierta. Respóndela allí e inténtalo de nuevo.',
    failed: 'La billetera no pudo firmar. Desbloquéala e inténtalo de nuevo.',
  },
}
