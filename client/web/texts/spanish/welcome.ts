import type { SimpleTranslation } from '../simple-catalog.ts'
import type { welcomeTexts as english } from '../welcome.ts'

export const welcomeTexts: SimpleTranslation<typeof english> = {
  opening: 'Abriendo Plaza',
  openingTour: 'Abriendo el recorrido',
  wait: 'Un momento',
  failed: 'No se puede abrir Plaza',
  signOut: 'Cerrar sesión',
  live: 'En directo ahora',
  pitch: 'Chatea en tiempo real, con cada mensaje en orden.',
  pitchMore:
    'Todos en una sala ven los mismos mensajes en el mismo orden. La moderación tiene efecto al instante. Un mensaje bloqueado te dice por qué.',
  ended: 'Se cerró tu sesión. Inicia sesión de nuevo.',
  invited: '{name} te invita a unirte a esta sala.',
  openingLink: 'Iniciando sesión…',
  contact: 'Contacto',
  link: {
    title: '¿Iniciar sesión con este enlace?',
    question:
      'Este enlace inicia sesión como {email}. Se solicitó en otro navegador. Continúa solo si es tu correo electrónico.',
    open: 'Iniciar sesión como {email}',
    leave: 'Cancelar',
  },
  facts: {
    verdictTitle: 'Las mismas reglas',
    verdict: 'Cada mensaje pasa las mismas once comprobaciones, desde la aplicación y desde la API.',
    orderTitle: 'Un solo orden',
    order: 'Todos en una sala ven los mismos mensajes en el mismo orden.',
    lossTitle: 'No se pierde nada',
    loss: 'Pierde la conexión y vuelve: cada mensaje está en su lugar.',
  },
  guest: 'Entrar como invitado',
  guestAgain: 'Continuar como invitado',
  guestConfirm: 'Confirmar como invitado',
  guestHint:
    'Una cuenta de invitado es una clave guardada solo en este navegador. Funciona como una billetera sin fondos.',
  signingIn: 'Iniciando sesión…',
  ways: {
    passkey: 'Llave de acceso',
    email: 'Correo electrónico',
    wallet: 'Billetera',
    worldid: 'Prueba de humanidad',
    alien: 'Cuenta de socio',
  },
  room: {
    members: 'Miembros: {count}',
    join: 'Inicia sesión o entra como invitado para unirte.',
  },
  preview: {
    title: '{name}, en vivo',
    room: 'Sala pública',
    demo: 'Demo: las demás personas siguen un guion.',
    empty: 'Aún no hay mensajes',
    emptyHint: 'Inicia sesión para escribir el primero.',
  },
  tour: 'O haz el recorrido como invitado',
  steps: {
    guest: 'Entrar como invitado',
    send: 'Enviar un mensaje',
    verdict: 'Hacer que bloqueen un enlace',
    slow: 'Esperar en modo lento',
    ask: 'Preguntar a un agente',
    drop: 'Perder la conexión',
    moderate: 'Ser moderador',
  },
  theme: {
    light: 'Usar el tema claro',
    dark: 'Usar el tema oscuro',
  },
}
