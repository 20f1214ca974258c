import type { TextTranslation } from '../catalog.ts'
import type { supportTexts as english } from '../support.ts'

export const supportTexts: TextTranslation<typeof english> = {
  report: {
    title: 'Informar de un problema',
    category: 'Categoría',
    description: '¿Qué salió mal?',
    steps: 'Pasos para reproducirlo (opcional)',
    files: 'Capturas y vídeos',
    addFiles: 'Añadir capturas o vídeos',
    filesChosen:
      '{count, plural, one {# archivo seleccionado} many {# de archivos seleccionados} other {# archivos seleccionados}}',
    filesHint: 'Cualquiera que tenga el enlace a un archivo puede verlo.',
    send: 'Enviar informe',
    sent: 'Gracias. Los administradores tienen tu informe.',
  },
  reports: {
    filter: 'Estado',
    list: 'Informes de problemas',
    empty: 'No hay informes',
    emptyHint: 'Los problemas se comunican desde los ajustes.',
    file: 'Archivo {number}',
    from: 'De <who>{name}</who>',
  },
  states: {
    open: 'Abierto',
    in_progress: 'En curso',
    resolved: 'Resuelto',
    closed: 'Cerrado',
  },
  contact: {
    title: 'Contacto',
    hint: 'Tu mensaje va al equipo que administra este servidor. Responde por correo electrónico.',
    name: 'Tu nombre',
    email: 'Tu correo electrónico',
    message: 'Mensaje',
    send: 'Enviar',
  },
}
