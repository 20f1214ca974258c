import type { TextTranslation } from '../catalog.ts'
import type { switcherTexts as english } from '../switcher.ts'

export const switcherTexts: TextTranslation<typeof english> = {
  title: 'Ir a',
  field: 'Buscar salas, personas, ajustes y acciones',
  example: 'Sala, persona o ajuste',
  results: 'Resultados',
  groups: {
    unread: 'Sin leer',
    recent: 'Recientes',
    acts: 'Acciones',
  },
  kinds: {
    rooms: 'Sala',
    groups: 'Grupo',
    direct: 'Mensaje directo',
    friend: 'Amistad',
    person: 'Persona',
    page: 'Página',
    settings: 'Ajustes',
    act: 'Acción',
  },
  detail: '{kind} · {about}',
  setting: '{settings} → {section}',
  acts: {
    message: 'Mensaje nuevo',
    appearance: 'Aspecto',
    keys: 'Atajos de teclado',
    signOut: 'Cerrar sesión',
  },
  count: '{count, plural, one {# resultado} many {# de resultados} other {# resultados}}',
  loading: 'Cargando tus salas…',
  failed: 'No se pudieron cargar tus salas.',
  searching: 'Buscando personas…',
  unsearched: 'Ahora mismo no se puede buscar personas.',
  untyped: 'Escribe un nombre.',
  none: 'Nada coincide con «{query}».',
  offline: 'Sin conexión solo se busca en tus salas, amistades y ajustes.',
  hints: {
    choose: 'Elegir',
    go: 'Abrir',
    people: 'Personas',
    rooms: 'Salas',
  },
}
