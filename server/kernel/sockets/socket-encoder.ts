import { Decoder, Encoder, type Packet } from 'socket.io-parser'

/** Socket.IO's parser for text only: it does not search binary parts. */
class TextEncoder extends Encoder {
  override encode({ type, nsp, id, data }: Packet): string[] {
    const space = nsp === '/' ? '' : `${nsp},`
    const json = data === undefined || data === null ? '' : JSON.stringify(data)
    return [`${type}${space}${id ?? ''}${json}`]
  }
}

/** It accepts no binary parts either: a client that omits the last would hold the others in memory. */
class TextDecoder extends Decoder {
  constructor() {
    super({ maxAttachments: 0 })
  }
}

export const textParser = { Encoder: TextEncoder, Decoder: TextDecoder }
