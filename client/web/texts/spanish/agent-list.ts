import type { agentListTexts as english } from '../agent-list.ts'
import type { TextTranslation } from '../catalog.ts'

export const agentListTexts: TextTranslation<typeof english> = {
  title: 'Agentes',
  back: 'Volver a las salas',
  create: 'Nuevo agente',
  own: 'Tuyos',
  none: 'Todavía no hay agentes',
  noneHint: 'Un agente responde como tú le indiques. Crea uno o pregunta a uno de los de abajo.',
  make: 'Crear un agente',
  edit: 'Editar',
  editOne: 'Editar {name}',
  favorites: 'Favoritos',
  discover: 'Descubrir',
  find: 'Buscar un agente',
  filters: {
    all: 'Todos',
    official: 'Oficiales',
    friends: 'De amigos',
  },
  notFound: 'Ningún agente coincide con estas palabras',
  nothing: 'Todavía no hay agentes que descubrir',
  more: 'Más',
  noDescription: 'Sin descripción',
  isFavorite: '{name} es un favorito',
  unfavorite: 'Quitar de favoritos',
  favorite: 'Añadir a favoritos',
  facts: '{by}, {count, plural, one {# respuesta} many {# de respuestas} other {# respuestas}}',
  by: 'de {name}',
  visibility: {
    private: 'Solo tú',
    friends: 'Tus amigos',
    public: 'Todo el mundo',
    official: 'Oficial',
  },
}
