import type { TextTranslation } from '../catalog.ts'
import type { tourTexts as english } from '../tour.ts'

export const tourTexts: TextTranslation<typeof english> = {
  title: 'Recorrido',
  position: '{number} de {count}',
  next: 'Siguiente: {title}',
  end: 'Terminar el recorrido',
  hints: {
    guest: 'Has iniciado sesión: tu navegador creó una clave propia. Sin extensión, sin contraseña.',
    send: 'Envíalo. El mensaje se ve nítido cuando tiene su lugar en la sala.',
    verdict: 'Aquí los enlaces están desactivados. Envíalo y mira qué comprobación bloqueó el mensaje y por qué.',
    slow: 'Envíalo y mira cuándo puedes enviar el siguiente. Recargar no acorta la espera.',
    ask: 'Envíalo y recarga la página mientras responde el agente: la respuesta continúa. Después, detenla.',
    drop: 'Tu conexión está cortada. Escribe algo, espera un poco y vuelve a conectarte: no falta nada.',
    moderate: 'Elige un mensaje y silencia a su remitente: el registro en vivo lo muestra al instante.',
  },
  drafts: {
    send: 'Hola desde el recorrido',
    verdict: 'Mira https://example.org',
    slow: 'Sin prisa',
    ask: '¿Cómo mantiene Plaza todos los mensajes en orden sin perder ninguno? Cuéntamelo todo, paso a paso.',
  },
  demo: {
    title: 'Demo',
    hint: '<strong>Demo.</strong> <said>Las demás personas siguen un guion.</said>',
    tour: 'Recorrido',
    drop: 'Cortar mi conexión',
    hide: 'Ocultar',
    moderate: 'Ser moderador',
    elsewhere: 'Ahora moderas las salas de la demo, pero no esta: pertenece a otra persona.',
    moderator: 'Ahora eres moderador.',
  },
}
