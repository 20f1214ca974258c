import type { z } from 'zod'
import type { Node } from './context.ts'

/** A message that each node applies: this one at once, others when they receive it. It may be lost, doubled or late. */
export interface PeerMessage<Message> {
  publish(node: Node, message: Message): void
  /** Applies the messages of other nodes until the returned function is called. */
  follow(node: Node): () => void
}

/** Messages that do not fit the schema, as of other versions, are ignored. */
export function definePeerMessage<Message>(
  topic: string,
  schema: z.ZodType<Message>,
  apply: (node: Node, message: Message) => void,
): PeerMessage<Message> {
  return {
    publish(node, message) {
      apply(node, message)
      node.peers.tell(topic, message)
    },
    follow: (node) =>
      node.peers.listen(topic, (word) => {
        const { data } = schema.safeParse(word)
        if (data !== undefined) apply(node, data)
      }),
  }
}
