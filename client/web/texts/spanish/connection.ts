import type { TextTranslation } from '../catalog.ts'
import type { connectionTexts as english } from '../connection.ts'

export const connectionTexts: TextTranslation<typeof english> = {
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
