import type { bookingHourTexts as english } from '../booking-hours.ts'
import type { TextTranslation } from '../catalog.ts'

export const bookingHourTexts: TextTranslation<typeof english> = {
  hint: 'Tus agentes que ofrecen tus horas de reserva muestran las que están libres, en la zona horaria del invitado. Nunca muestran qué te mantiene ocupado.',
  title: 'Horario semanal',
  empty: 'Aún no hay horario semanal, así que nadie puede reservar contigo.',
  span: '{day}, de {from} a {to}',
  remove: 'Quitar',
  removeOf: 'Quitar {span}',
  add: 'Añadir horas',
  day: 'Día',
  days: 'De {first} a {last}',
  from: 'Desde',
  to: 'Hasta',
  zone: 'Zona horaria: {zone}.',
  submit: 'Añadir',
  endsTooEarly: 'El final debe ser posterior al inicio.',
  calls: 'Llamadas',
  save: 'Guardar',
  saved: 'Guardado.',
  lengths: {
    scheduling_free_duration_minutes: 'Duración de una llamada, en minutos',
    scheduling_buffer_minutes: 'Pausa entre llamadas, en minutos',
    scheduling_advance_notice_hours: 'Antelación mínima, en horas',
  },
  calendar: {
    title: 'Tu calendario',
    hint: 'No se ofrecen las horas en las que tu Google Calendar está ocupado, y las llamadas se añaden a él. Plaza pregunta cuándo estás ocupado, nunca con qué.',
    expired: 'Tienes que volver a conectar tu calendario. Hasta entonces no se ofrecen horas.',
    unavailable:
      'Los calendarios ya no están disponibles en este servidor. No se ofrecen horas hasta que desconectes el tuyo.',
    connected: 'Conectado',
    connectedAs: 'Conectado como {email}',
    connect: 'Conectar Google Calendar',
    connectAgain: 'Volver a conectar',
    disconnect: 'Desconectar',
    disconnected: 'Tu calendario está desconectado.',
  },
  connection: {
    done: 'Tu calendario está conectado.',
    access_denied: 'No permitiste que Google muestre cuándo estás ocupado, así que no hay ningún calendario conectado.',
    exchange_failed: 'Google no concedió todos los permisos. Vuelve a conectar tu calendario.',
    provider_error: 'Google rechazó la conexión. Vuelve a conectar tu calendario.',
    provider_away: 'Google no respondió. Inténtalo más tarde.',
    not_configured: 'Los calendarios no están disponibles en este servidor.',
    expired: 'Tardó demasiado o se inició en otro lugar. Vuelve a conectar tu calendario.',
  },
}
