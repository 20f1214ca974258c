import type { TextTranslation } from '../catalog.ts'
import type { starTexts as english } from '../stars.ts'

export const starTexts: TextTranslation<typeof english> = {
  title: 'Mensajes destacados',
  empty: 'No hay mensajes destacados',
  emptyHint: 'Destaca un mensaje desde su menú para encontrarlo aquí. Solo tú ves tus destacados.',
  sealed: 'Abre la conversación para leer este mensaje',
  remove: 'Quitar de destacados',
}
