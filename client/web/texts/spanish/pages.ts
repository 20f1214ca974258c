import type { TextTranslation } from '../catalog.ts'
import type { pageTexts as english, connectionTexts as englishConnectionTexts } from '../pages.ts'

export const pageTexts: TextTranslation<typeof english> = {
  channels: 'Canales',
  newRoom: 'Sala nueva',
  nearRooms: 'Salas cerca de mí',
  ownTokens: 'De mis tokens',
  room: 'Sala',
  roomSettings: 'Ajustes de la sala',
  live: 'En directo',
  goLive: 'Emitir en directo',
  livestream: 'Directo',
  calls: 'Llamadas',
  friends: 'Amigos',
  starred: 'Mensajes destacados',
  ownProfile: 'Tu perfil',
  profile: 'Perfil',
  agents: 'Agentes',
  newAgent: 'Agente nuevo',
  agent: 'Agente',
  settings: 'Ajustes',
  admin: 'Administración',
  invitation: 'Invitación',
  meeting: 'Reunión',
  schedule: 'Reservar una llamada',
  call: 'Llamada',
  opening: 'Abriendo: {page}',
  messageHint: 'Este enlace abre un mensaje en cuanto inicies sesión.',
  skip: 'Ir al campo de mensaje',
  missing: 'Página no encontrada',
  missingTitle: 'Página no encontrada · Plaza',
  missingHint: 'Puede que la dirección esté mal escrita o que la página se haya eliminado.',
  home: 'Ir a Plaza',
}

export const connectionTexts: TextTranslation<typeof englishConnectionTexts> = {
  caughtUp:
    'Al día: {events, plural, one {# evento} many {# de eventos} other {# eventos}}, {gaps, plural, one {# hueco} many {# de huecos} other {# huecos}}',
  problems: {
    offline: 'Estás sin conexión. Los mensajes que escribas se enviarán cuando vuelvas a estar en línea.',
    rest: 'Conexión limitada. Los mensajes nuevos pueden llegar con retraso.',
    closed: 'Desconectado. Recarga la página para volver a conectarte.',
    cut: 'Te desconectaste. Los mensajes que escribas se enviarán cuando vuelvas a conectarte.',
  },
  reconnect: 'Volver a conectar',
}
