import { Decoder, Encoder, type Packet } from 'socket.io-parser'

/** Socket.IO's own parser, for those who only ever send text: it does not look for binary parts in what it encodes. */
class TextEncoder extends Encoder {
  override encode({ type, nsp, id, data }: Packet): string[] {
    const space = nsp === '/' ? '' : `${nsp},`
    const json = data === undefined || data === null ? '' : JSON.stringify(data)
    return [`${type}${space}${id ?? ''}${json}`]
  }
}

/** It takes no binary parts either: whoever never sends the last of them would have this process hold the others. */
class TextDecoder extends Decoder {
  constructor() {
    super({ maxAttachments: 0 })
  }
}

export const textParser = { Encoder: TextEncoder, Decoder: TextDecoder }
