import type { TextTranslation } from '../catalog.ts'
import type { refusalTexts as english } from '../refusals.ts'

export const refusalTexts: TextTranslation<typeof english> = {
  codes: {
    BLOCKED_WORD: 'Tu mensaje contiene una palabra bloqueada',
    MESSAGE_REJECTED: 'No se pudo enviar tu mensaje.',
    LINKS_NOT_ALLOWED: 'No se permiten enlaces',
    CONTENT_NOT_ALLOWED: 'Este contenido no está permitido',
    TEXT_TOO_COMPLEX: 'No se pudo comprobar este mensaje. Acórtalo o simplifícalo.',
    MESSAGE_TOO_LONG: 'El mensaje es demasiado largo',
    EDIT_WINDOW_CLOSED: 'Los mensajes se pueden editar durante 15 minutos',
    BANNED: 'Tienes prohibida la entrada a esta sala',
    BLOCKED: 'No puedes escribir a esta persona',
    MUTED: 'Estás silenciado en esta sala',
    READ_ONLY: 'Esta sala es de solo lectura',
    SUSPENDED: 'Tu cuenta está suspendida',
    ROOM_ARCHIVED: 'Esta sala está archivada',
    ROOM_NOT_FOUND: 'No se encuentra la sala',
    NOT_A_MEMBER: 'No eres miembro de esta sala',
    USERNAME_TAKEN: 'Este nombre de usuario no está disponible',
    INVITATION_NOT_FOUND: 'Esta invitación no se conoce. Comprueba que copiaste el enlace completo.',
    INVITATION_EXPIRED: 'Esta invitación ha caducado. Pide otra.',
    INVITATION_USED_UP: 'Esta invitación ya se ha usado por completo. Pide otra.',
    INVITATION_REVOKED: 'Esta invitación fue retirada. Pide otra.',
    CODE_EXPIRED: 'El código ha caducado. Pide otro.',
    TOO_MANY_ATTEMPTS: 'Demasiados intentos. Pide un código nuevo.',
    SLOT_TAKEN: 'Esta hora está ocupada. Elige otra.',
  },
}
