import type { TextTranslation } from '../catalog.ts'
import type { folderTexts as english } from '../folders.ts'

export const folderTexts: TextTranslation<typeof english> = {
  title: 'Carpetas',
  move: 'Mover a una carpeta',
  empty: 'Una carpeta es una pestaña sobre tus salas. Solo tú la ves.',
  list: 'Tus carpetas',
  edit: 'Editar',
  editOf: 'Editar {name}',
  editAll: 'Editar carpetas',
  delete: 'Eliminar',
  new: 'Carpeta nueva',
  create: 'Crear carpeta',
  save: 'Guardar',
  emoji: 'Emoji',
  name: 'Nombre',
  nameExample: 'Trabajo',
  all: 'Todas',
  pinnedAtMost:
    '{count, plural, one {Puedes fijar # chat.} many {Puedes fijar hasta # de chats.} other {Puedes fijar hasta # chats.}} Desfija antes otro.',
}
