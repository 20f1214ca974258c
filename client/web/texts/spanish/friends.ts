import type { TextTranslation } from '../catalog.ts'
import type { friendTexts as english } from '../friends.ts'

export const friendTexts: TextTranslation<typeof english> = {
  title: 'Amigos',
  addTitle: 'Añadir amigo',
  addField: 'Nombre de usuario, nombre o dirección',
  addHint: 'Escribe un nombre de usuario, un nombre o una dirección',
  add: 'Enviar solicitud',
  sent: '{count, plural, one {Solicitud de amistad enviada.} many {# de solicitudes de amistad enviadas.} other {# solicitudes de amistad enviadas.}}',
  incoming: 'Solicitudes de amistad',
  accept: 'Aceptar',
  acceptOf: 'Aceptar la solicitud de amistad de {name}',
  decline: 'Rechazar',
  declineOf: 'Rechazar la solicitud de amistad de {name}',
  outgoing: 'Solicitudes enviadas',
  cancel: 'Cancelar solicitud',
  cancelOf: 'Cancelar la solicitud a {name}',
  all: 'Todos los amigos',
  empty: 'Aún no tienes amigos',
  emptyHint: 'Envía arriba una solicitud de amistad. Los amigos pueden añadirse a grupos sin invitación.',
  online: 'en línea',
  message: 'Mensaje',
  messageTo: 'Enviar un mensaje a {name}',
}
