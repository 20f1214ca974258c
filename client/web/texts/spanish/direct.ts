import type { TextTranslation } from '../catalog.ts'
import type { directTexts as english } from '../direct.ts'

export const directTexts: TextTranslation<typeof english> = {
  you: 'Tú',
  opening: 'Abriendo',
  badge: {
    verified: 'Cifrado de extremo a extremo',
    unverified: 'Cifrado de extremo a extremo, sin verificar',
    unavailable: 'Los mensajes no se pueden abrir aquí',
    stopped: 'Los dispositivos nuevos necesitan tu aprobación',
    sharedKey: 'Almacenado con cifrado; el operador tiene la clave',
    told: 'No es secreto: un anuncio de Plaza',
  },
  clear: {
    epoch: 'No es secreto: se envió antes de que los mensajes directos tuvieran cifrado de extremo a extremo.',
    'shared-key': 'Guardado sin cifrar: se envió antes de que esta sala tuviera una clave.',
    system: 'No es secreto: se envió a muchas personas a la vez.',
    welcome: 'No es secreto: se envía a todas las personas nuevas.',
  },
  locked: {
    'no key':
      'Este mensaje aún no se puede abrir en este dispositivo. Se abrirá cuando un dispositivo con su clave esté en línea y haya aprobado este.',
    untrusted: 'Este mensaje no se puede abrir: su clave viene de un dispositivo nuevo que no has aprobado.',
    damaged: 'Este mensaje no se puede abrir: está dañado o fue modificado en el camino.',
    malformed: 'Este mensaje no se puede leer: su formato es desconocido.',
    'no storage': 'Este mensaje no se puede abrir: este navegador no guarda claves.',
    'no member': 'Este mensaje no se puede abrir: solo los miembros de esta sala tienen su clave.',
  },
  news: {
    list: 'Dispositivos',
    forged: '{name}: un dispositivo con un certificado falso dice ser parte de esta cuenta. No recibe ningún mensaje.',
    changed: '{name}: un dispositivo tiene una clave nueva. Alguien podría estar interceptando tus mensajes.',
    waiting: '{name} inició sesión en un dispositivo nuevo que no está verificado.',
    trusted: '{name} inició sesión en un dispositivo nuevo.',
    hold: 'No se envía nada hasta que apruebes estos dispositivos. Si tienes dudas, compara el número de seguridad.',
    approve: 'Aprobar dispositivos',
  },
  safety: {
    title: 'Número de seguridad',
    who: 'Solo vuestros dispositivos pueden leer aquí el texto y los archivos; quienes administran este servidor no pueden. Ven quién escribe a quién y cuándo, la longitud de los mensajes, las reacciones y los mensajes fijados. La búsqueda, las vistas previas, las palabras bloqueadas y los agentes no funcionan aquí, porque tendrían que leer los mensajes.',
    compare:
      'Compara estos números con la otra persona, en una llamada o en persona. Si coinciden, nadie está interceptando vuestros mensajes.',
    verified: '{state} · verificado por la cuenta · visto por primera vez {time}',
    unverified: '{state} · sin verificar · visto por primera vez {time}',
  },
  devices: {
    trusted: 'puede leer mensajes',
    waiting: 'espera tu aprobación',
    changed: 'tiene una clave nueva',
    forged: 'tiene un certificado falso',
    'left out': 'no puede leer mensajes',
  },
  sharedKey: {
    who: 'Los miembros de esta sala comparten una clave para el texto y los archivos. Quien robe los datos de este servidor o una copia de seguridad no podrá leerlos, ni tampoco quien esté fuera de la sala.',
    operator:
      'Quienes administran este servidor tienen la clave y pueden leerlo todo. Los antiguos miembros pueden haber guardado la clave, que no cambia cuando alguien se va. Los mensajes anteriores sin la clave están señalados.',
    limits:
      'La búsqueda, las encuestas, las vistas previas, las palabras bloqueadas y los agentes no funcionan aquí, porque tendrían que leer los mensajes. Los baneos, los silencios, el modo lento y el modo de solo lectura sí.',
  },
}
