import type { TextTranslation } from '../catalog.ts'
import type { valueTexts as english } from '../values.ts'

export const valueTexts: TextTranslation<typeof english> = {
  roles: {
    owner: 'propietario',
    admin: 'administrador',
    moderator: 'moderador',
    member: 'miembro',
  },
  reports: {
    spam: 'spam',
    harassment: 'acoso',
    hate_speech: 'discurso de odio',
    violence: 'violencia',
    scam: 'estafa',
    impersonation: 'suplantación de identidad',
    inappropriate_content: 'contenido inapropiado',
    other: 'otro',
    blocked_word: 'palabra bloqueada',
  },
  bugs: {
    Agents: 'Agentes',
    Friends: 'Amigos',
    Calls: 'Llamadas',
    Chats: 'Chats',
    Rooms: 'Salas',
    Livestream: 'Directo',
    Settings: 'Ajustes',
    Configuration: 'Configuración',
    Other: 'Otro',
  },
  rules: {
    links_allowed: 'enlaces',
    photos_allowed: 'fotos',
    pixel_art_allowed: 'pixel art',
    gifs_allowed: 'GIF',
    polls_allowed: 'encuestas',
    location_sharing_allowed: 'ubicaciones',
    voice_allowed: 'voz',
    files_allowed: 'archivos',
    read_only: 'solo lectura',
    slow_mode_seconds: 'modo lento',
    max_message_length: 'longitud máxima',
    rules_text: 'texto de las reglas',
    read_access: 'acceso de lectura',
    message_ttl: 'eliminación de mensajes',
  },
}
