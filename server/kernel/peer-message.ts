import type { z } from 'zod'
import type { Node } from './context.ts'

/** Messages to the other nodes that listen to a subject. They may be lost, doubled or late; those of other versions are ignored. */
export const definePeerTopic = <Message, Sent>(name: string, schema: z.ZodType<Message, Sent>) => ({
  tell: ({ peers }: Node, subject: string, message: Sent): void => void peers.tell(name + subject, message),
  listen: ({ peers }: Node, subject: string, apply: (message: Message) => void): (() => void) =>
    peers.listen(name + subject, (word) => {
      const { data } = schema.safeParse(word)
      if (data !== undefined) apply(data)
    }),
})

/** A message that each node applies: this one at once, others when they receive it, from `follow` until its end. */
export function definePeerMessage<Message>(
  name: string,
  schema: z.ZodType<Message>,
  apply: (node: Node, message: Message) => void,
) {
  const topic = definePeerTopic(name, schema)
  return {
    publish(node: Node, message: Message): void {
      apply(node, message)
      topic.tell(node, '', message)
    },
    follow: (node: Node): (() => void) => topic.listen(node, '', (message) => apply(node, message)),
  }
}
