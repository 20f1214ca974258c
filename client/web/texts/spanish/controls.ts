import type { TextTranslation } from '../catalog.ts'
import type { controlTexts as english } from '../controls.ts'

export const controlTexts: TextTranslation<typeof english> = {
  backToRooms: 'Volver a las salas',
  remove: 'Quitar',
  showMore: 'Mostrar más',
  status: 'Estado: {words}',
  copy: 'Copiar',
  apart: 'Imagen en imagen',
  whole: 'Pantalla completa',
  leaveWhole: 'Salir de pantalla completa',
  copied: {
    link: 'Enlace copiado.',
    secret: 'Secreto copiado.',
  },
  notCopied: 'Este navegador no permite copiar. Copia el texto desde su campo.',
  position: {
    unsupported: 'Este navegador no conoce tu ubicación.',
    refused: 'Se denegó el acceso a la ubicación. Permítelo en los ajustes de tu navegador.',
    unknown: 'No se pudo encontrar tu ubicación.',
    slow: 'La búsqueda de tu ubicación tardó demasiado.',
  },
}
