import type { bookedCallTexts as english } from '../booked-calls.ts'
import type { TextTranslation } from '../catalog.ts'

export const bookedCallTexts: TextTranslation<typeof english> = {
  title: 'Llamadas',
  pages: {
    current: 'Próximas',
    past: 'Pasadas y canceladas',
  },
  none: 'No hay ninguna.',
  minutes: '{count} min',
  isCancelled: 'cancelada',
  paid: {
    pending: 'pago en curso',
    paid: 'pagada',
    refunded: 'reembolsada',
  },
  cancelled: {
    kept: 'Cancelada. El pago no se devuelve desde aquí.',
    withdrawn: 'Cancelada. No se cobró nada.',
    unknown: 'Cancelada. Aún no se sabe si se cobró.',
  },
  unbooked:
    'no reservada; puede cobrarse hasta {time}. Lo cobrado sirve para otro momento: resérvalo en este navegador',
  reason: 'Motivo: {reason}',
  open: 'Abrir',
  openOne: 'Abrir: {time}',
  copyLink: 'Copiar enlace',
  copyLinkOne: 'Copiar enlace: {time}',
  copied: 'Copiado',
  cancel: 'Cancelar',
  cancelOne: 'Cancelar: {time}',
  cancelPaid: 'Cancelar sin reembolso',
  dialog: {
    title: '¿Cancelar esta llamada?',
    text: 'La llamada del <b>{time}</b> no tendrá lugar y su hora vuelve a quedar libre.',
    paid: 'El pago no se devuelve desde aquí.',
    reason: 'Motivo (opcional)',
    keep: 'Mantener la llamada',
    cancel: 'Cancelar la llamada',
  },
  share: {
    title: 'Tu página',
    on: 'Cualquiera puede reservar una llamada contigo',
    slug: 'Tu propia palabra en su dirección, si quieres',
    slugHint: 'De 3 a 30 letras minúsculas, cifras y guiones',
    unpayable: 'Las llamadas con precio no se pueden reservar: aquí no se pueden hacer pagos en su red.',
    copy: 'Copiar',
    copyAddress: 'Copiar la dirección de tu página',
    save: 'Guardar',
    saved: 'Guardado.',
  },
  problems: {
    EMAIL_NOT_VERIFIED:
      'Añade primero un correo en «Inicio de sesión y seguridad»: allí llegan los correos sobre llamadas.',
    SLUG_TAKEN: 'Esta dirección ya está en uso. Elige otra.',
  },
}
