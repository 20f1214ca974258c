import type { TextTranslation } from '../catalog.ts'
import type { operationTexts as english } from '../operations.ts'

export const operationTexts: TextTranslation<typeof english> = {
  title: 'Instalación',
  settings: 'Ajustes',
  switches: {
    registration_open: 'Las personas nuevas pueden crear una cuenta',
    uploads_allowed: 'Se pueden subir archivos',
  },
  notice: {
    title: 'Aviso',
    hint: 'Se muestra por encima de todo a quien abre la página.',
    show: 'Mostrarlo',
    remove: 'Quitarlo',
    shown: 'A partir de ahora lo ve todo el mundo.',
    removed: 'El aviso se ha quitado.',
  },
  broadcast: {
    title: 'Difusión',
    to: 'Destinatarios',
    text: 'Mensaje',
    all_users: 'Todo el mundo, de parte de Plaza',
    friends: 'Tus amigos, de tu parte',
    send: 'Enviar a {count, plural, one {# persona} many {# de personas} other {# personas}}',
    sent: 'Enviado a {count, plural, one {# persona} many {# de personas} other {# personas}}.',
    sending: 'Enviado a {sent} de {total}; los demás lo recibirán pronto.',
    reached: '{sent} de {total}',
    failed: '{count} sin alcanzar',
    underWay: 'enviando',
  },
  cluster: {
    title: 'Clúster',
    loading: 'Cargando los nodos',
    none: 'Ningún nodo ha informado todavía',
    noneHint: 'Cada uno informa cada tres segundos.',
    sum: '{nodes, plural, one {# nodo} many {# de nodos} other {# nodos}} con {count, plural, one {# conexión} many {# de conexiones} other {# conexiones}}, actualizado cada tres segundos.',
    node: 'Nodo',
    silent: 'en silencio desde {time}',
    up: 'activo desde hace {time}',
    rooms: '{count, plural, one {# sala} many {# de salas} other {# salas}}',
    away: 'sin acceso: {services}',
  },
  figures: {
    connections: 'Conexiones',
    messages: 'Mensajes',
    delivery: 'Entrega',
    timers: 'Retraso de temporizadores',
    memory: 'Memoria',
  },
}
